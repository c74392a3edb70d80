import { and, eq, inArray, isNotNull, lt, type SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import {
  botCalls,
  claims,
  codeMessages,
  codes,
  identityConflicts,
  leftWeeks,
  linkCodes,
  outbox,
  pushSubscriptions,
  phoneChanges,
  rateLimitEvents,
  receiptMails,
  sessions,
  stripeEvents,
  trialLinks,
  usedTokens,
  withdrawals,
} from '#db/schema';
import { stripeEventsKeptMs } from '../billing/stripe-events.ts';
import type { Database } from '../lib/database.ts';
import { inJson } from '../lib/expressions.ts';
import { rateLimitEventsKeptMs } from '../lib/rate-limits.ts';
import { build } from '../lib/sql.ts';
import { sql } from '../lib/sql-text.ts';
import { dayMs, hourMs } from '../lib/time.ts';

const rowsPerStep = 500;
/** Up to 20,000 rows a minute, more than are inserted. */
const stepsPerRun = 40;
/** Lets calls write in between (part `m` of tests/bench/README.md). */
const pauseMs = 100;

type Expiring = {
  table: SQLiteTable;
  key: SQLiteColumn | SQL;
  expiresAt: SQLiteColumn;
  keptMs?: number;
};
type Ordered = {
  table: SQLiteTable;
  since: SQLiteColumn;
  keptMs: number;
};

const ordered: Ordered[] = [
  {
    table: rateLimitEvents,
    since: rateLimitEvents.at,
    keptMs: rateLimitEventsKeptMs,
  },
  { table: botCalls, since: botCalls.at, keptMs: 7 * dayMs },
  { table: stripeEvents, since: stripeEvents.at, keptMs: stripeEventsKeptMs },
  { table: sessions, since: sessions.expiresAt, keptMs: 0 },
];

/** Whoever types a code too late learns why. */
const spentCodesKeptMs = hourMs;

const rowid = sql`rowid`;

const expiring: Expiring[] = [
  {
    table: codes,
    key: rowid,
    expiresAt: codes.expiresAt,
    keptMs: spentCodesKeptMs,
  },
  {
    table: codeMessages,
    key: codeMessages.mac,
    expiresAt: codeMessages.keptUntil,
  },
  { table: claims, key: claims.mac, expiresAt: claims.expiresAt, keptMs: dayMs },
  { table: usedTokens, key: usedTokens.id, expiresAt: usedTokens.expiresAt },
  { table: trialLinks, key: trialLinks.mac, expiresAt: trialLinks.expiresAt },
  {
    table: pushSubscriptions,
    key: pushSubscriptions.endpoint,
    expiresAt: pushSubscriptions.expiresAt,
  },
  { table: leftWeeks, key: leftWeeks.phoneMac, expiresAt: leftWeeks.endsAt },
  { table: receiptMails, key: rowid, expiresAt: receiptMails.keptUntil },
  { table: linkCodes, key: linkCodes.mac, expiresAt: linkCodes.expiresAt },
  {
    table: phoneChanges,
    key: phoneChanges.id,
    expiresAt: phoneChanges.expiresAt,
  },
  {
    table: identityConflicts,
    key: rowid,
    expiresAt: identityConflicts.lastAt,
    keptMs: 90 * dayMs,
  },
];

/** For parked messages, which their users see as failed. */
const parkedMessagesKeptMs = 7 * dayMs;
/** Of deleted accounts; others stay until the owner decides. */
const parkedDeletionsKeptMs = 30 * dayMs;

/** One bounded batch of each table at a time. */
export async function deleteExpiredRows(db: Database, now: number): Promise<void> {
  const statements = [
    ...ordered.map(({ table, since, keptMs }) => deleteOldest(table, since, now - keptMs)),
    ...expiring.map((each) => deleteExpired(each, now)),
    deleteOldest(withdrawals, withdrawals.keptUntil, deletableBeforeSql(now)),
    deleteSome(outbox, outbox.seq, and(parkedBefore(now - parkedMessagesKeptMs), isMessage)),
    deleteSome(outbox, outbox.seq, and(parkedBefore(now - parkedDeletionsKeptMs), isDeletion)),
  ];
  for (let step = 0; step < stepsPerRun; step += 1) {
    const [first, ...rest] = statements.map((statement) => db.run(statement));
    const results = await db.batch([first!, ...rest]);
    if (results.every(({ rowsAffected }) => rowsAffected === 0)) return;
    await scheduler.wait(pauseMs);
  }
}

/** An index on the age would be one more write for each row. */
function deleteOldest(table: SQLiteTable, since: SQLiteColumn, before: number | SQL): SQL {
  return sql`delete from ${table} where rowid < (select min(rowid) from ${table}) + ${rowsPerStep} and ${since} < ${before}`;
}

/**
 * The trigger `withdrawals_kept` compares with the database's clock; deleting earlier would
 * fail the batch.
 */
const deletableBeforeSql = (now: number): SQL => sql`min(${now}, unixepoch() * 1000)`;

function deleteExpired({ table, key, expiresAt, keptMs = 0 }: Expiring, now: number): SQL {
  return deleteSome(table, key, lt(expiresAt, now - keptMs));
}

const isMessage = isNotNull(outbox.messageId);
const isDeletion = eq(inJson(outbox.body, '$.type'), 'user.deleted');
const parkedBefore = (before: number) => lt(outbox.parkedAt, before);

function deleteSome(table: SQLiteTable, key: SQLiteColumn | SQL, where: SQL | undefined): SQL {
  const some = build
    .select({ key: key as SQLiteColumn })
    .from(table)
    .where(where)
    .limit(rowsPerStep);
  return build
    .delete(table)
    .where(inArray(key as SQLiteColumn, some))
    .getSQL();
}
