import {
  and,
  asc,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lte,
  ne,
  notInArray,
  or,
  sql,
  type SQL,
} from 'drizzle-orm';
import { purchaseChoices, users, withdrawals, type Withdrawal } from '#db/schema';
import type { ExportSection } from '../identity/user-record.ts';
import { userOf } from '../identity/identity.ts';
import { sealData } from '../bot/event-data.ts';
import { insertBotEvent, queueEvent } from '../bot/outbox.ts';
import type { Language } from '../contract/languages.ts';
import type { Database } from '../lib/database.ts';
import { networkOf } from '../lib/caller.ts';
import { coalesce, fixed, least, rowExists } from '../lib/expressions.ts';
import {
  allowedAt,
  hashedSubject,
  recordEvents,
  subjectsIn,
  type Limited,
} from '../lib/rate-limits.ts';
import { rateLimited } from '../lib/request-error.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { dayMs } from '../lib/time.ts';
import { transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { sumOf, type ConcludedContract } from './concluded-contract.ts';
import {
  personsMail,
  queuedMail,
  reportWaiting,
  strangersMail,
  type QueuedMail,
} from './receipt-mail.ts';
import { receiptForPerson, receiptOf } from './receipt.ts';
import { objectionMs } from './right.ts';

export type Statement = Withdrawal;

export const statementsOf = (db: Database, userId: string) =>
  db
    .select()
    .from(withdrawals)
    .where(eq(withdrawals.userId, userId))
    .orderBy(desc(withdrawals.seq));

export async function statementOf(db: Database, id: string): Promise<Statement | undefined> {
  const [row] = await db.select().from(withdrawals).where(eq(withdrawals.id, id));
  return row;
}

/** The reason of a statement that its person has not made. */
export const objected = 'objected';

/** The reason of a statement that the owner has ended by hand. */
export const completed = 'completed';

/** The reason of a statement that was open at the time to which the database was put back. */
export const restored = 'restored';

/** The reason of a statement whose contract another one has ended. */
const repeated = 'repeated';

/** The reasons of statements that go on no more. */
const stopped = [objected, completed, repeated];

/** SQL: nobody has objected to the statement, and neither the owner nor another statement has ended it. */
export const isUnderWay = and(
  inArray(withdrawals.state, ['received', 'refunding', 'done']),
  or(isNull(withdrawals.reason), notInArray(withdrawals.reason, stopped)),
)!;

/** The statement as it is now, if it still goes on by itself. */
export async function statementUnderWay(db: Database, id: string): Promise<Statement | undefined> {
  const own = and(eq(withdrawals.id, id), isUnderWay);
  const [row] = await db.select().from(withdrawals).where(own);
  return row;
}

/** The reason of a statement that belongs to no account. */
export const accountUnknown = 'account_unknown';

/** Statements that the cron job goes on with: strangers' after people's own, the oldest first. */
export const dueStatements = (db: Database, now: number, limit: number) =>
  db
    .select()
    .from(withdrawals)
    .where(and(lte(withdrawals.dueAt, now), isUnderWay))
    .orderBy(asc(withdrawals.origin), asc(withdrawals.dueAt))
    .limit(limit);

/** Statements that wait for longer than this (ms) are reported: the law gives 14 days for the money. */
const patienceMs = 3 * dayMs;

/** Numbers of statements that nobody and nothing has settled for three days: first those of an account. */
export async function overdueStatements(db: Database, now: number): Promise<number[]> {
  const rows = await db
    .select({ seq: withdrawals.seq })
    .from(withdrawals)
    .where(
      and(
        inArray(withdrawals.state, ['received', 'needs_owner']),
        lte(withdrawals.submittedAt, now - patienceMs),
      ),
    )
    .orderBy(isNull(withdrawals.userId), asc(withdrawals.seq))
    .limit(100);
  return rows.map(({ seq }) => seq);
}

/** The columns of a statement that name its contract. */
export function contractColumns(contract: ConcludedContract, at: number) {
  return {
    billedAt: at,
    subscription: contract.subscription,
    tier: contract.tier,
    concludedAt: contract.concludedAt,
    startNow: contract.startNow,
    currency: contract.currency,
    refund: sumOf(contract.payments, 'refund'),
  };
}

type OwnStatement = {
  userId: string;
  contact: string;
  email: string | null;
  language: Language;
  now: number;
  /** Null while Stripe does not respond: the statement counts all the same. */
  found: { contract: ConcludedContract; at: number } | null;
};

type Place = { db: Database; settings: Settings };

/** A statement, and the mail to the address that was given with it. */
export type Kept = { statement: Statement; mail: QueuedMail | undefined };

/** Keeps a signed-in person's statement. Another one of the same contract is not kept: the first is returned. */
export async function keepOwnStatement(
  { db, settings }: Place,
  { found, now, ...statement }: OwnStatement,
): Promise<Kept> {
  const row: Statement = {
    ...unsettled,
    ...statement,
    id: crypto.randomUUID(),
    origin: 'account',
    submittedAt: now,
    keptUntil: now + settings.WITHDRAWAL_KEPT_DAYS * dayMs,
    dueAt: now,
    ...(found && contractColumns(found.contract, found.at)),
  };
  const own = and(eq(withdrawals.userId, statement.userId), isOpenOrOf(found?.contract));
  const { seq: _, ...columns } = row;
  const event = await receivedEvent(settings, row, now);
  const mail = await personsMail(settings, { ...row, now });

  const tx = transaction(db, {
    facts: { isStated: rowExists(withdrawals, own) },
    outcomes: ({ isStated }) => ({ repeated: isStated }),
    otherwise: 'kept',
  });
  // The contract may be stated already by another account.
  tx.insert(['kept'], withdrawals, columns, { upsert: 'ignore' });
  queueEvent(tx, ['kept'], event);
  const kept = db.select().from(withdrawals).where(own).orderBy(desc(withdrawals.seq)).limit(1);
  mail?.queue(tx, ['kept']);
  const { reads } = await tx.run({ kept, queued: queuedMail(db, mail) });

  const [first] = reads.kept as [Statement];
  const isFirst = first.id === row.id;
  if (isFirst || mail === null) return { statement: first, mail: reads.queued[0] };
  return repeatStatement({ db, settings }, first, { email: row.email, now });
}

/**
 * A person makes a statement once more, or confirms one that was made without signing in: that one takes effect now,
 * also if Stripe does not respond. The receipt goes to the address that the person gives, and to no other.
 */
export async function repeatStatement(
  { db, settings }: Place,
  statement: Statement,
  { email, now }: { email: string | null; now: number },
): Promise<Kept> {
  const { id, userId } = statement;
  const mail = await personsMail(settings, { id, email, now });
  const waits = and(eq(withdrawals.id, id), openPublicOf(userId));

  const tx = transaction(db, {
    facts: { isWaiting: rowExists(withdrawals, waits) },
    outcomes: ({ isWaiting }) => ({ confirmed: isWaiting }),
    otherwise: 'repeated',
  });
  const dueAt = least(coalesce(withdrawals.dueAt, now), now);
  tx.update(['confirmed'], withdrawals, { dueAt }, eq(withdrawals.id, id));
  mail?.queue(tx, ['confirmed', 'repeated']);
  const { reads } = await tx.run({ queued: queuedMail(db, mail) });

  return { statement, mail: reads.queued[0] };
}

/** A statement of which nothing is known but what was stated. */
const unsettled = {
  seq: 0,
  userId: null,
  name: null,
  plan: null,
  email: null,
  billedAt: null,
  subscription: null,
  tier: null,
  concludedAt: null,
  startNow: null,
  currency: null,
  refund: null,
  state: 'received',
  reason: null,
  dueAt: null,
  attempts: 0,
  announcedAt: null,
} satisfies Partial<Statement>;

/** Statements of this contract; of an unknown one, those whose contract is not known either. */
function isOpenOrOf(contract: ConcludedContract | undefined): SQL | undefined {
  const { subscription, concludedAt, state, origin } = withdrawals;
  const isOpen = and(isNull(subscription), eq(state, 'received'));
  if (!contract) return isOpen;

  return or(
    and(eq(subscription, contract.subscription), eq(concludedAt, contract.concludedAt)),
    and(isOpen, eq(origin, 'account')),
  );
}

/** Whether a statement was made without signing in, and its person may still confirm it. */
export const isUnconfirmed = ({ origin, state, userId }: Statement): boolean =>
  origin === 'public' && state === 'received' && userId !== null;

/** Whether its person may still object: its contract is named when it begins to take effect. */
const isOpenToObjection = (statement: Statement): boolean =>
  isUnconfirmed(statement) && statement.subscription === null;

/** Instant (unix ms). */
const objectionUntil = ({ submittedAt }: Pick<Statement, 'submittedAt'>): number =>
  submittedAt + objectionMs;

/** Whether a statement was made without signing in, and takes no effect by itself. */
const isUntold = (statement: Statement): boolean =>
  isOpenToObjection(statement) && statement.dueAt === null;

/** The newest statement that its person has made, as far as we know, or has to know of. */
export const lastStatement = (newestFirst: Statement[]): Statement | undefined =>
  newestFirst.find((each) => {
    const { reason } = each;
    return reason !== objected && reason !== repeated && !isUntold(each);
  });

/** A statement in the response to whoever makes it, which says nothing about accounts. */
export function statementNow({ id, submittedAt, state, refund }: Statement) {
  return { id, submittedAt: new Date(submittedAt).toISOString(), state, refund };
}

/** A statement as its person sees it later. */
export function shownStatement(statement: Statement) {
  const objectUntil = new Date(objectionUntil(statement)).toISOString();
  return { ...statementNow(statement), ...(isOpenToObjection(statement) && { objectUntil }) };
}

/**
 * SQL: statements about this account that somebody has made without
 * signing in, and that nothing has begun; none about an unknown one.
 */
const openPublicOf = (userId: string | null) =>
  and(
    eq(withdrawals.userId, sql.param(userId)),
    eq(withdrawals.origin, 'public'),
    eq(withdrawals.state, 'received'),
    isNull(withdrawals.subscription),
  )!;

/**
 * Leaves a statement to the owner, and with it all others that wait: their person was told of one. False if it is not
 * this user's, or has taken effect. Its caller holds the lease, so nothing begins between its two statements.
 */
export async function objectTo(db: Database, id: string, userId: string): Promise<boolean> {
  const open = openPublicOf(userId);
  const named = db
    .select({ id: withdrawals.id })
    .from(withdrawals)
    .where(and(eq(withdrawals.id, id), open));
  if ((await named).length === 0) return false;

  await db
    .update(withdrawals)
    .set({ state: 'needs_owner', reason: objected, dueAt: null })
    .where(open);
  return true;
}

/** SQL: an objection of this account whose contract could still be withdrawn: a day has parts of two, and zones. */
const objectionOf = (userId: string | null, { WITHDRAWAL_DAYS }: Settings, now: number) =>
  and(
    eq(withdrawals.userId, sql.param(userId)),
    eq(withdrawals.reason, objected),
    gt(withdrawals.submittedAt, now - (WITHDRAWAL_DAYS + 2) * dayMs),
  );

/** A statement ends the other ones of the account that wait: each means the same contract. */
export function endRepeated(db: Database, { id, userId }: Statement) {
  return db
    .update(withdrawals)
    .set({ state: 'done', reason: repeated, refund: 0, dueAt: null })
    .where(and(openPublicOf(userId), ne(withdrawals.id, id)));
}

type PublicStatement = {
  name: string;
  contact: string;
  plan: string | null;
  email: string | null;
  language: Language;
  /** The contact as a phone number, if it is one. */
  phone: string | null;
};

/** How often a person is told of statements that somebody has made about their number. */
const toldLimits = [{ most: 3, per: dayMs }];

type Caller = { address: string; now: number };

/**
 * Keeps anybody's statement and matches it by number. Throws
 * 429; says nothing about accounts.
 *
 * | the statement is about                            | who acts                                  |
 * | ------------------------------------------------- | ----------------------------------------- |
 * | no account                                        | the owner, at once                        |
 * | an account                                        | its person, who is told; it takes effect  |
 * | one where another waits, or after an objection    | nobody is told; its person, or the owner  |
 */
export async function keepPublicStatement(
  { db, settings }: Place,
  { phone, ...statement }: PublicStatement,
  { address, now }: Caller,
): Promise<Kept> {
  const id = crypto.randomUUID();
  const about = phone ?? statement.contact;
  const { callers, told } = await limitsOf(settings, { address, about });
  const mail = await strangersMail(settings, { id, email: statement.email, now, address });
  const userId = await ownerOf(db, phone);
  const { seq: _, ...row } = {
    ...unsettled,
    ...statement,
    id,
    userId,
    origin: 'public',
    submittedAt: now,
    keptUntil: now + settings.WITHDRAWAL_KEPT_DAYS * dayMs,
  } satisfies Statement;
  const toldUntil = objectionUntil(row);
  const event = await receivedEvent(settings, { seq: 0, ...row, dueAt: toldUntil }, now);

  const tx = transaction(db, {
    facts: {
      mayStateAt: allowedAt(callers),
      mayTellAt: allowedAt([told]),
      hasObjected: rowExists(withdrawals, objectionOf(userId, settings, now)),
      othersWait: rowExists(withdrawals, and(openPublicOf(userId), isNotNull(withdrawals.dueAt))),
    },
    outcomes: ({ mayStateAt, mayTellAt, hasObjected, othersWait }) => ({
      limited: gt(mayStateAt, now),
      unmatched: isNull(fixed(userId)),
      untold: or(othersWait, hasObjected, gt(mayTellAt, now)),
    }),
    otherwise: 'told',
  });

  const accepted = ['unmatched', 'untold', 'told'] as const;
  const ofOwner = { state: 'needs_owner', reason: accountUnknown } as const;
  tx.insert(['unmatched'], withdrawals, { ...row, ...ofOwner });
  // It takes no effect by itself, since its person is not told of it.
  tx.insert(['untold'], withdrawals, { ...row, dueAt: null });
  tx.insert(['told'], withdrawals, { ...row, dueAt: toldUntil });
  queueEvent(tx, ['told'], event);
  recordEvents(tx, accepted, subjectsIn(callers), { now });
  recordEvents(tx, ['told'], [told.subject], { now });
  mail?.queue(tx, accepted);
  const kept = db.select().from(withdrawals).where(eq(withdrawals.id, id));
  const { outcome, facts, reads } = await tx.run({ kept, queued: queuedMail(db, mail) });

  if (outcome === 'limited') throw rateLimited(facts.mayStateAt, now);
  const [queued] = reads.queued;
  reportWaiting(queued, now);
  return { statement: reads.kept[0]!, mail: queued };
}

/** A network may state so many times as often as one of its addresses. */
const addressesOfNetwork = 5;

/** What limits a caller's statements, and how often a person is told of them. */
async function limitsOf(
  { CODE_PEPPER, LIMIT_STATEMENTS_PER_ADDRESS: limits }: Settings,
  { address, about }: { address: string; about: string },
): Promise<{ callers: Limited[]; told: Limited }> {
  const hashesOf = (of: string) => keyedHashes(CODE_PEPPER, 'limit', of);
  const network = networkOf(address);
  const [caller, callersNetwork, person] = await Promise.all([
    hashesOf(address),
    network ? hashesOf(network) : null,
    hashesOf(about),
  ]);

  const ofNetwork = limits.map(({ most, per }) => ({ most: most * addressesOfNetwork, per }));
  const callers = [{ subject: hashedSubject('statement', caller), limits }];
  if (callersNetwork)
    callers.push({ subject: hashedSubject('statement', callersNetwork), limits: ofNetwork });
  return {
    callers,
    told: { subject: hashedSubject('statement-told', person), limits: toldLimits },
  };
}

async function ownerOf(db: Database, phone: string | null): Promise<string | null> {
  if (phone === null) return null;
  const [owner] = await db.select({ id: userOf('phone', phone) }).from(sql`(select 1)`);
  return owner?.id ?? null;
}

/** Changes a statement, whatever its state. */
export function updateStatement(db: Database, id: string, changes: Partial<Statement>) {
  return db.update(withdrawals).set(changes).where(eq(withdrawals.id, id));
}

/** As `updateStatement`, unless somebody has stopped the statement meanwhile. */
export function updateUnderWay(db: Database, id: string, changes: Partial<Statement>) {
  return db
    .update(withdrawals)
    .set(changes)
    .where(and(eq(withdrawals.id, id), isUnderWay));
}

/** Tells the bot that this statement was kept, with its receipt. One that takes no effect by itself is not told. */
async function receivedEvent(settings: Settings, statement: Statement, now: number) {
  const { id } = statement;
  const userId = statement.userId ?? '';
  const type = 'withdrawal.received' as const;
  const receipt = await receiptForPerson(settings, statement);
  const sealed = await sealData(settings, { type, userId }, { receipt });
  const { dueAt } = withdrawals;
  const isKept = rowExists(withdrawals, and(eq(withdrawals.id, id), isNotNull(dueAt)));
  return { settings, type, now, who: and(eq(users.id, userId), isKept), data: { sealed } };
}

/** SQL: tells the bot that the money is on its way, once. */
export function refundedEvent(settings: Settings, statement: Statement, now: number): SQL {
  const { id, refund: amount, currency } = statement;
  const isFirst = and(eq(withdrawals.id, id), isNull(withdrawals.announcedAt), isUnderWay);
  const who = and(eq(users.id, statement.userId ?? ''), rowExists(withdrawals, isFirst));
  const type = 'withdrawal.refunded' as const;
  return insertBotEvent({ settings, type, now, who, data: { amount, currency } });
}

export const exportWithdrawals: ExportSection = async ({ user, db, settings }) => {
  const own = eq(purchaseChoices.userId, user.id);
  const choices = await db.select().from(purchaseChoices).where(own);
  const rows = await statementsOf(db, user.id);
  const statements = rows.map(async (row) => ({
    ...withoutOwner(row),
    receipt: await receiptOf(settings, row),
  }));
  return {
    purchaseChoices: choices.map(withoutOwner),
    withdrawals: await Promise.all(statements),
  };
};

function withoutOwner<Row extends { userId: string | null }>(row: Row) {
  const { userId: _, ...rest } = row;
  return rest;
}
