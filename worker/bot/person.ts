import { and, eq, ne, sql, type SQL } from 'drizzle-orm';
import { aliases, identityConflicts, users } from '#db/schema';
import { userOf } from '../identity/identity.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { isOwnAlias } from '../lib/bindings.ts';
import { keyedHash } from '../lib/crypto.ts';
import { RequestError } from '../lib/request-error.ts';
import { excluded } from '../lib/sql.ts';
import type { FactsOf, FactsSql, Reads } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import {
  botTransaction,
  type BotTransaction,
  type Guard,
  type SignedCall,
} from './bot-transaction.ts';

/**
 * How a call of the bot names a person: by the
 * number, by the business-scoped id, or by both.
 */
export type Person = { phone?: PhoneNumber | undefined; businessUserId?: string | undefined };

export type PersonCall = SignedCall & { settings: Pick<Settings, 'CODE_PEPPER'> };

type PersonDecision<Facts extends FactsSql, Listed extends string, Last extends string> = {
  /**
   * Read from the person's row of `users`,
   * whose columns are null if there is none.
   */
  facts: Facts;
  outcomes: (facts: Record<keyof Facts | 'isKnown', SQL>) => { [Outcome in Listed]?: SQL };
  otherwise: Last;
  /** What may become another outcome when the call is repeated. */
  forgotten?: NoInfer<Listed | Last>[];
};

/**
 * A transaction of a signed call about one person, whose facts
 * say whether somebody has the names. Names of two people are
 * a conflict: it is recorded, and nothing is applied.
 */
export async function personTransaction<
  Facts extends FactsSql,
  Listed extends string,
  Last extends string,
>(
  call: PersonCall,
  person: Person,
  { facts, outcomes, otherwise, forgotten = [] }: PersonDecision<Facts, Listed, Last>,
): Promise<BotTransaction<Listed | Last | 'conflict', FactsOf<Facts>>> {
  const names = namesOf(person);
  const decision = {
    from: sql`(select 1) left join ${users} on ${eq(users.id, names.userId)}`,
    facts: { ...facts, isKnown: sql<number>`${users.id} is not null` },
    outcomes: (read: never) => ({
      ...(names.isConflict && { conflict: names.isConflict }),
      ...outcomes(read),
    }),
    otherwise,
    forgotten: names.isConflict ? ['conflict', ...forgotten] : forgotten,
  };
  const tx = await botTransaction(call, decision as never, aliasGuard(call, person));
  if (names.isConflict) await recordConflict(call, tx as never, names);
  return tx as never;
}

/**
 * An id that is not bound to its user's number
 * is unknown: the row was not written by us.
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

/**
 * Applies the transaction, or finds what the same call
 * has decided. Throws 409 for the names of two people.
 */
export async function applyToPerson<Outcome extends string, Facts, Named extends Reads = Reads>(
  tx: BotTransaction<Outcome, Facts>,
  reads?: Named,
) {
  const applied = await tx.apply(reads);
  const { outcome } = applied;
  if (outcome === 'conflict') {
    const message = 'phone and businessUserId belong to two people';
    throw new RequestError('conflict', { message });
  }
  return { ...applied, outcome: outcome as Exclude<Outcome, 'conflict'> };
}

/** SQL: the id of the user whom a call names, or null. */
export const userNamed = (person: Person): SQL<string | null> => namesOf(person).userId;

type Names = {
  businessUserId: string | undefined;
  ofPhone: SQL | undefined;
  ofId: SQL | undefined;
  userId: SQL<string | null>;
  /** Only a call with both names can be one. */
  isConflict?: SQL;
};

function namesOf({ phone, businessUserId }: Person): Names {
  const ofPhone = phone === undefined ? undefined : userOf('phone', phone);
  const ofId = businessUserId === undefined ? undefined : userOf('business', businessUserId);
  if (!ofPhone || !ofId) return { businessUserId, ofPhone, ofId, userId: (ofPhone ?? ofId)! };

  // An unknown id of a number with another id means a new owner.
  const anotherId = and(
    eq(aliases.userId, ofPhone),
    eq(aliases.kind, 'business'),
    ne(aliases.value, businessUserId!),
    ne(aliases.proof, 'earlier-number'),
  );
  const isConflict = sql`coalesce(${ofPhone} <> ${ofId}
    or (${ofId} is null and exists (select 1 from ${aliases} where ${anotherId})), 0)`;
  const userId = sql<string | null>`coalesce(${ofPhone}, ${ofId})`;
  return { businessUserId, ofPhone, ofId, userId, isConflict };
}

async function recordConflict(
  { settings, now }: PersonCall,
  tx: BotTransaction<'conflict', unknown>,
  { businessUserId, ofPhone, ofId }: Names,
): Promise<void> {
  const row = {
    idMac: await keyedHash(settings.CODE_PEPPER[0]!, 'conflict', businessUserId!),
    userId: sql`${ofPhone}`,
    otherUserId: sql`${ofId}`,
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
}

export function unknownPerson(): RequestError {
  return new RequestError('notFound', { message: 'Nobody with this number or id is known' });
}
