import { eq, sql, type SQL } from 'drizzle-orm';
import { usedTokens } from '#db/schema';
import type { Database } from '../../lib/database.ts';
import { dayMs } from '../../lib/time.ts';
import type { Settings } from '../../settings.ts';

export type Report = { done: string[]; unknown: string[] };

export type Restore = {
  db: Database;
  settings: Settings;
  /** The instant (unix ms) to which the database was put back. */
  at: number;
  until: number;
  isDry: boolean;
};

export type RestoreStep = {
  name: string;
  run: (restore: Restore) => Promise<Report>;
};

const markersKeptMs = 90 * dayMs;

export const markerOf = (at: number, name: string, by: string) => ({
  id: `restore:${at}:${name}`,
  by,
  expiresAt: Date.now() + markersKeptMs,
});

/** How something was done; null before. */
export async function marked(db: Database, at: number, name: string): Promise<string | null> {
  const [marker] = await db
    .select({ by: usedTokens.by })
    .from(usedTokens)
    .where(eq(usedTokens.id, markerOf(at, name, '').id));
  return marker?.by ?? null;
}

export async function mark(db: Database, at: number, name: string, by: string): Promise<void> {
  const row = markerOf(at, name, by);
  await db
    .insert(usedTokens)
    .values(row)
    .onConflictDoUpdate({ target: usedTokens.id, set: { by } });
}

/** In unix ms; null before. */
export async function markedAt(db: Database, at: number, step: string): Promise<number | null> {
  const by = await marked(db, at, step);
  return by === null ? null : Number(by);
}

export async function markNow(db: Database, at: number, step: string): Promise<void> {
  const row = markerOf(at, step, String(Date.now()));
  await db.insert(usedTokens).values(row).onConflictDoNothing();
}

export async function countOf(db: Database, table: SQL, where: SQL): Promise<number> {
  const [row] = await db.all<{ n: number }>(sql`select count(*) as n from ${table} where ${where}`);
  return row!.n;
}

const rowsAtOnce = 5000;

/**
 * Runs a statement for some rows at a time, so
 * that no write holds the database for long.
 */
export async function inBatches(
  db: Database,
  statement: (rows: SQL) => SQL,
  { table, where }: { table: SQL; where: SQL },
): Promise<void> {
  const limit = sql.raw(String(rowsAtOnce));
  const rows = sql`select rowid from ${table} where ${where} limit ${limit}`;
  for (;;) {
    const { rowsAffected } = await db.run(statement(sql`rowid in (${rows})`));
    if (rowsAffected === 0) return;
  }
}

export const report = (...done: string[]): Report => ({ done, unknown: [] });

export const counted = (n: number, one: string, many: string) => `${n} ${n === 1 ? one : many}`;
