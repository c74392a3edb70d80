import { identityConflicts, type User } from '#db/schema';
import type { Scope } from '../request-scope.ts';
import type { Settings } from '../settings.ts';
import { namesOf, type AliasKind } from './aliases.ts';
import { isOwnAlias } from './bindings.ts';
import { conflictsOfSql, ownMacs } from './identity-conflicts.ts';
import { isSpellingOf, type PhoneNumber } from './phone.ts';

type ExportScope = Scope<'db' | 'settings'> & { user: User };
type Name = {
  kind: AliasKind;
  value: string;
  bindingMac: string | null;
};

export async function exportIdentity({ user, db, settings }: ExportScope) {
  const { at, lastAt } = identityConflicts;
  const names = await namesOf(db, user.id);
  const owned = await Promise.all(names.map((name) => isOwnName(settings, user.phone, name)));
  return {
    identities: names
      .filter((_, index) => owned[index])
      .map(({ kind, value, proof, at: since }) => ({
        kind,
        value,
        proof,
        at: since,
      })),
    // Without the other person's id.
    identityConflicts: await db
      .select({ at, lastAt })
      .from(identityConflicts)
      .where(conflictsOfSql(user.id, await ownMacs(settings, names))),
  };
}

/** A row may give a name to another number. */
async function isOwnName(
  settings: Settings,
  phone: PhoneNumber,
  { kind, value, bindingMac }: Name,
) {
  if (kind === 'business') return isOwnAlias(settings, { value, phone, bindingMac });
  return kind === 'phone' ? value === phone : isSpellingOf(phone, value);
}
