import { and, eq, isNotNull, isNull, ne, or, type SQL } from 'drizzle-orm';
import { aliases, identityConflicts, users } from '#db/schema';
import { log } from '../lib/log.ts';
import { conflictMacs } from '../identity/identity-conflicts.ts';
import { userOfSql } from '../identity/aliases.ts';
import { beginContest } from '../identity/contest.ts';
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

export type Person = {
  phone?: PhoneNumber | undefined;
  businessUserId?: string | undefined;
};

export type PersonCall = SignedCall & { settings: Pick<Settings, 'CODE_PEPPER'> };

type PersonFacts = { isKnown: SQL; isRecorded: SQL<number> };

type PersonDecision<
  Facts extends FactsSql,
  Listed extends string,
  Last extends string,
  Other extends string,
> = {
  /** Columns of `users`; null for a stranger. */
  facts: Facts;
  outcomes: (facts: Record<keyof Facts | 'isKnown', SQL>) => { [Outcome in Listed]?: SQL };
  otherwise: Last;
  unstored?: NoInfer<Listed | Last>[];
  others?: Other[];
};

/**
 * A transaction of a signed call about one person: the user of the number, else of the id. The
 * fact `isKnown` says whether there is one. The first condition that holds decides:
 *
 * | outcome      | condition                    | `applyToPerson` | rows                          |
 * | ------------ | ---------------------------- | --------------- | ----------------------------- |
 * | `conflict`   | number and id have two       | 409             | `identity_conflicts`, once    |
 * |              | users; or nobody has the id, |                 | for id and user, again only   |
 * |              | and the user of the number   |                 | `last_at` and the other user; |
 * |              | has another one, other than  |                 | the number becomes            |
 * |              | one of an `earlier-number`   |                 | contested (`contest.ts`)      |
 * | the caller's | the caller's                 | returns it      | the caller's; `bot_calls`     |
 *
 * A repeated call finds its outcome and facts, writes nothing, and reads `reads` anew; after
 * `conflict` or an `unstored` outcome it decides again.
 */
export async function personTransaction<
  Facts extends FactsSql,
  Listed extends string,
  Last extends string,
  Other extends string = never,
>(scope: PersonCall, person: Person, decision: PersonDecision<Facts, Listed, Last, Other>) {
  const { facts, outcomes, otherwise, unstored = [], others = [] } = decision;
  const names = usersOf(person);
  const idMacs = names.isConflict ? await conflictMacs(scope.settings, names.businessUserId!) : [];

  const tx = await botTransaction<Facts & PersonFacts, Listed | 'conflict', Last, Other>(
    scope,
    {
      from: oneRow([users, eq(users.id, names.userId)]),
      facts: {
        ...facts,
        isKnown: isNotNull(users.id),
        isRecorded: names.isConflict ? isRecordedSql(names, idMacs) : fixed(0),
      },
      outcomes: (read) => ({ conflict: names.isConflict, ...outcomes(read) }),
      otherwise,
      unstored: names.isConflict ? ['conflict', ...unstored] : unstored,
      others,
    },
    aliasGuard(scope, person),
  );

  if (names.isConflict)
    recordConflict(tx, names, {
      idMac: idMacs[0]!,
      now: scope.now,
    });
  return tx;
}

/**
 * An id that our key did not bind to its user's number counts as unknown: somebody else has
 * written the row. `aliases.ts` has compared the rows of id and number, in the transaction; this
 * recomputes the hash with our key, which SQL cannot. A call that names that number, too, needs
 * no proof of the id: the number says whose it is. What the call wrote stays.
 */
function aliasGuard(
  { db, settings }: PersonCall,
  { phone, businessUserId }: Person,
): Guard | undefined {
  if (businessUserId === undefined) return undefined;
  const rows = db
    .select({ phone: users.phone, bindingMac: aliases.bindingMac })
    .from(aliases)
    .innerJoin(users, eq(users.id, aliases.userId))
    .where(and(eq(aliases.kind, 'business'), eq(aliases.value, businessUserId)));

  return {
    rows,
    async check(found) {
      const [alias] = found as Awaited<typeof rows>;
      if (!alias || alias.phone === phone) return;
      const isOwn = await isOwnAlias(settings, {
        ...alias,
        value: businessUserId,
      });
      if (!isOwn) throw unknownPerson();
    },
  };
}

/**
 * Throws after the commit: 409 `idReused`, then 404 for an id without its number that our key
 * did not bind (also of a repeated call), then 409 for a conflict.
 */
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
  /** Missing if the call has one name, which cannot conflict. */
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

function isRecordedSql({ userOfPhone }: PersonNames, idMacs: string[]) {
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

  beginContest(tx, ['conflict'], userOfPhone!, now);
}

export function unknownPerson(): RequestError {
  return new RequestError('notFound', { message: 'Nobody with this number or id is known' });
}
