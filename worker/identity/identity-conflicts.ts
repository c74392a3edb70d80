import { eq, or } from 'drizzle-orm';
import { aliases, claims, identityConflicts } from '#db/schema';
import { keyedHashes } from '../lib/crypto.ts';
import type { Peppers } from '../lib/secrets.ts';
import { isIn } from '../lib/sql.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import type { AliasKind } from './aliases.ts';

export const conflictMacs = ({ CODE_PEPPER }: Peppers, id: string) =>
  keyedHashes(CODE_PEPPER, 'conflict', id);

export async function ownMacs(
  settings: Peppers,
  known: { kind: AliasKind; value: string }[],
): Promise<string[]> {
  const id = known.find(({ kind }) => kind === 'business')?.value;
  return id === undefined ? [] : conflictMacs(settings, id);
}

export const conflictsOfSql = (userId: string, idMacs: string[]) =>
  or(
    eq(identityConflicts.userId, userId),
    eq(identityConflicts.otherUserId, userId),
    isIn(identityConflicts.idMac, idMacs),
  );

export function deleteIdentity<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  userId: string,
  idMacs: string[],
): void {
  tx.delete(on, identityConflicts, conflictsOfSql(userId, idMacs));
  tx.delete(on, aliases, eq(aliases.userId, userId));
  tx.delete(on, claims, eq(claims.userId, userId));
}
