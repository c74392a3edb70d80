import { sql, type SQL } from 'drizzle-orm';
import { dailyTotals } from '#db/schema';
import type { Database } from './database.ts';
import { insertSelect, nameOf } from './sql.ts';
import { dayMs } from './time.ts';
import type { Transaction } from './transaction.ts';

/**
 * What is counted, with its detail: the channel of a referral, or the reason.
 */
type Counted = Pick<typeof dailyTotals.$inferInsert, 'kind' | 'detail'>;

/**
 * SQL that adds one to today's total for each row of
 * `from`, for example `where …` for one under a condition.
 */
export function countToday(counted: Counted, now: number, from: SQL): SQL {
  const day = sql<number>`cast(${now} / ${sql.raw(String(dayMs))} as integer)`;
  return sql`${insertSelect(dailyTotals, { detail: '', ...counted, day, n: sql`1` }, from)}
    on conflict (${nameOf(dailyTotals.kind)}, ${nameOf(dailyTotals.day)}, ${nameOf(dailyTotals.detail)})
    do update set ${nameOf(dailyTotals.n)} = ${dailyTotals.n} + 1`;
}

/** Adds one to today's total. */
export function countOnDay<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: readonly [Outcome, ...Outcome[]],
  counted: Counted,
  now: number,
): void {
  const { kind, day, detail, n } = dailyTotals;
  const row = { detail: '', ...counted, day: dayOf(now), n: 1 };
  tx.insert(on, dailyTotals, row, {
    upsert: { target: [kind, day, detail], set: { n: sql`${n} + 1` } },
  });
}

/** SQL: today's total of all details of a kind. */
export function totalOfDay(kind: Counted['kind'], now: number): SQL<number> {
  const { n, day } = dailyTotals;
  return sql`(
    select coalesce(sum(${n}), 0) from ${dailyTotals}
    where ${dailyTotals.kind} = ${kind} and ${day} = ${dayOf(now)})`;
}

const dayOf = (now: number) => Math.floor(now / dayMs);

export async function totalsOfYears<Years extends number[]>(
  db: Database,
  kind: Counted['kind'],
  ...years: Years
): Promise<{ [Index in keyof Years]: { year: number; total: number } }> {
  const firstDay = (year: number) => Date.UTC(year, 0, 1) / dayMs;
  const { day, n } = dailyTotals;
  const sums = years.map(
    (
      year,
    ) => sql`(select coalesce(sum(${n}), 0) from ${dailyTotals} where ${dailyTotals.kind} = ${kind}
      and ${day} >= ${firstDay(year)} and ${day} < ${firstDay(year + 1)})`,
  );
  const [row] = await db.values<number[]>(sql`select ${sql.join(sums, sql`, `)}`);
  return years.map((year, index) => ({ year, total: row![index]! })) as never;
}
