import { and, eq, isNotNull, isNull, ne, or, type SQL } from 'drizzle-orm';
import { aliases, identityConflicts, users } from '#db/schema';
import { log } from '../lib/log.ts';
import { conflictMacs } from '../identity/identity-conflicts.ts';
import { userOfSql } from '../identity/aliases.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { isOwnAlias } from '../identity/bindings.ts';
import { coalesce, fixed, isTrue, oneRow, rowExists } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { excluded, isIn } from '../lib/sql.ts';
import type { FactsOf, FactsSql, Reads, Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import {
  type Applied,
  botTransaction,
  type BotTransaction,
  type Guard,
  type SignedCall,
} from './bot-transaction.ts';

export type Person = { phone?: PhoneNumber | undefined; businessUserId?: string | undefined };

export type PersonCall = SignedCall & { settings: Pick<Settings, 'CODE_PEPPER'> };

type PersonFacts = { isKnown: SQL; isRecorded: SQL<number> };

type PersonDecision<
  Facts extends FactsSql,
  Listed extends string,
  Last extends string,
  Other extends string,
> = {
  /** Columns are null if there is no row. */
  facts: Facts;
  outcomes: (facts: Record<keyof Facts | 'isKnown', SQL>) => { [Outcome in Listed]?: SQL };
  otherwise: Last;
  forgotten?: NoInfer<Listed | Last>[];
  others?: Other[];
};

/**
 * A transaction of a signed call about one person, whose facts say whether
 * somebody has the names. A conflict: number and id are of two people, or the id
 * is unknown and the number's user has another one (not from an `earlier-number`).
 * Only the conflict is written: the number's codes open limited sessions until its
 * own id writes again (`record-contact.ts`). The same call again decides anew.
 */
export async function personTransaction<
  Facts extends FactsSql,
  Listed extends string,
  Last extends string,
  Other extends string = never,
>(scope: PersonCall, person: Person, decision: PersonDecision<Facts, Listed, Last, Other>) {
  const { facts, outcomes, otherwise, forgotten = [], others = [] } = decision;
  const names = usersOf(person);
  const idMacs = names.isConflict ? await conflictMacs(scope.settings, names.businessUserId!) : [];

  const tx = await botTransaction<Facts & PersonFacts, Listed | 'conflict', Last, Other>(
    scope,
    {
      from: oneRow([users, eq(users.id, names.userId)]),
      facts: {
        ...facts,
        isKnown: isNotNull(users.id),
        isRecorded: names.isConflict ? isRecorded(names, idMacs) : fixed(0),
      },
      outcomes: (read) => ({ conflict: names.isConflict, ...outcomes(read) }),
      otherwise,
      forgotten: names.isConflict ? ['conflict', ...forgotten] : forgotten,
      others,
    },
    aliasGuard(scope, person),
  );

  if (names.isConflict) recordConflict(tx, names, { idMac: idMacs[0]!, now: scope.now });
  return tx;
}

/**
 * An id that is not bound to its user's number is unknown: the row was not
 * written by us. `aliases.ts` compares two rows with each other; this
 * compares them with our key, after the commit. What the call wrote stays.
 */
function aliasGuard(
  { db, settings }: PersonCall,
  { phone, businessUserId }: Person,
): Guard | undefined {
  if (businessUserId === undefined) return undefined;
  const rows = db
    .select({ phone: users.phone, mac: aliases.mac })
    .from(aliases)
    .innerJoin(users, eq(users.id, aliases.userId))
    .where(and(eq(aliases.kind, 'business'), eq(aliases.value, businessUserId)));

  return {
    rows,
    async check(found) {
      const [alias] = found as Awaited<typeof rows>;
      if (!alias || alias.phone === phone) return;
      const isOwn = await isOwnAlias(settings, { ...alias, value: businessUserId });
      if (!isOwn) throw unknownPerson();
    },
  };
}

/** Throws 409 for a conflict; 404, after the commit, for an id that is not bound to its number. */
export async function applyToPerson<
  Outcome extends string,
  Facts extends FactsOf<PersonFacts>,
  Other extends string,
  Named extends Reads = Reads,
>(tx: BotTransaction<Outcome, Facts, Other>, reads?: Named) {
  const applied = await tx.apply(reads);
  if (applied.outcome === 'conflict') {
    if (!applied.facts?.isRecorded) log('error', 'number_contested', {});
    const message = 'phone and businessUserId belong to two people';
    throw new RequestError('conflict', { message });
  }
  return applied as Applied<Exclude<Outcome, 'conflict'>, Facts, Other, Named>;
}

export const userNamedSql = (person: Person): SQL<string | null> => usersOf(person).userId;

type PersonNames = {
  businessUserId: string | undefined;
  userOfPhone: SQL | undefined;
  userOfId: SQL | undefined;
  userId: SQL<string | null>;
  /** Only a call with both names can be one. */
  isConflict?: SQL;
};

function usersOf({ phone, businessUserId }: Person): PersonNames {
  const userOfPhone = phone === undefined ? undefined : userOfSql('phone', phone);
  const userOfId = businessUserId === undefined ? undefined : userOfSql('business', businessUserId);
  if (!userOfPhone || !userOfId)
    return {
      businessUserId,
      userOfPhone,
      userOfId,
      userId: (userOfPhone ?? userOfId)!,
    };

  const anotherId = and(
    eq(aliases.userId, userOfPhone),
    eq(aliases.kind, 'business'),
    ne(aliases.value, businessUserId!),
    ne(aliases.proof, 'earlier-number'),
  );
  const hasAnotherId = and(isNull(userOfId), rowExists(aliases, anotherId));
  const isConflict = isTrue(or(ne(userOfPhone, userOfId), hasAnotherId));
  const userId = coalesce<string | null>(userOfPhone, userOfId);
  return { businessUserId, userOfPhone, userOfId, userId, isConflict };
}

function isRecorded({ userOfPhone }: PersonNames, idMacs: string[]) {
  const { userId, idMac } = identityConflicts;
  return rowExists(identityConflicts, and(isIn(idMac, idMacs), eq(userId, userOfPhone!)));
}

function recordConflict<Outcome extends string>(
  tx: Transaction<Outcome | 'conflict', unknown>,
  { userOfPhone, userOfId }: PersonNames,
  { idMac, now }: { idMac: string; now: number },
): void {
  const row = {
    idMac,
    userId: userOfPhone!,
    otherUserId: userOfId!,
    at: now,
    lastAt: now,
  };

  const { userId, otherUserId, lastAt } = identityConflicts;
  tx.insert(['conflict'], identityConflicts, row, {
    upsert: {
      target: [identityConflicts.idMac, userId],
      set: { otherUserId: excluded(otherUserId), lastAt: excluded(lastAt) },
    },
  });

  const number = and(eq(aliases.userId, userOfPhone!), eq(aliases.kind, 'phone'));
  const isNew = and(number, ne(aliases.proof, 'contested'));
  tx.update(['conflict'], aliases, { proof: 'contested', at: now }, isNew);
}

export function unknownPerson(): RequestError {
  return new RequestError('notFound', { message: 'Nobody with this number or id is known' });
}
