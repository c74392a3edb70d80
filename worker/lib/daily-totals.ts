import { and, eq, gte, lt, type SQL } from 'drizzle-orm';
import { sql } from './sql-text.ts';
import { dailyTotals } from '#db/schema';
import type { Database } from './database.ts';
import { plus } from './expressions.ts';
import { dayMs } from './time.ts';
import type { On, Transaction } from './transaction.ts';

type Counted = Pick<typeof dailyTotals.$inferInsert, 'kind' | 'detail'>;

export function countOnDay<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  counted: Counted,
  now: number,
): void {
  tx.insert(on, dailyTotals, firstOf(counted, now), { upsert: oneMore });
}

export async function countNow(db: Database, counted: Counted, now: number): Promise<void> {
  await db.insert(dailyTotals).values(firstOf(counted, now)).onConflictDoUpdate(oneMore);
}

const { kind: kinds, day: days, detail: details, n: numbers } = dailyTotals;
const oneMore = { target: [kinds, days, details], set: { n: plus(numbers, 1) } };
const firstOf = (counted: Counted, now: number) => ({
  detail: '',
  ...counted,
  day: dayOf(now),
  n: 1,
});

export function totalOfDaySql(kind: Counted['kind'], now: number): SQL<number> {
  return totalOf(kind, eq(dailyTotals.day, dayOf(now)));
}

function totalOf(kind: Counted['kind'], days: SQL | undefined): SQL<number> {
  const own = and(eq(dailyTotals.kind, kind), days);
  return sql`(select coalesce(sum(${dailyTotals.n}), 0) from ${dailyTotals} where ${own})`;
}

const dayOf = (now: number) => Math.floor(now / dayMs);

export async function totalsOfYears<Years extends number[]>(
  db: Database,
  kind: Counted['kind'],
  ...years: Years
): Promise<{ [Index in keyof Years]: { year: number; total: number } }> {
  const firstDay = (year: number) => Date.UTC(year, 0, 1) / dayMs;
  const { day } = dailyTotals;
  const sums = years.map((year) =>
    totalOf(kind, and(gte(day, firstDay(year)), lt(day, firstDay(year + 1)))),
  );
  const [row] = await db.values<number[]>(sql`select ${sql.join(sums, sql`, `)}`);
  return years.map((year, index) => ({ year, total: row![index]! })) as never;
}
