import { sql, type SQL } from 'drizzle-orm';
import type { Value } from '../prepared.ts';

/** At most `most` times in any stretch of `per` milliseconds. */
export type Limit = { most: number; per: number };

/** What happened is kept so long (ms); no limit may look back further. */
export const hitsKeptMs = 86_400_000;

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads `5/1h 10/1d`. */
export function parseLimits(text: string): Limit[] {
  return text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [, most, count, unit] = /^(\d+)\/(\d+)([smhd])$/.exec(part)!;
      return { most: Number(most), per: Number(count) * units[unit as keyof typeof units] };
    });
}

/** SQL: when the subject may act again, in unix ms; 0 when it never was limited. */
export function freeAt(subject: Value<string>, limits: Limit[]): SQL<number> {
  const each = limits.map(
    ({ most, per }) =>
      sql`coalesce((select at from hits where subject = ${subject} order by at desc limit 1 offset ${sql.raw(String(most - 1))}) + ${sql.raw(String(per))}, 0)`,
  );
  return sql`max(0, ${sql.join([sql`0`, ...each], sql`, `)})`;
}

/** SQL: remembers the act `by` for each subject whose condition holds; conditions see what was before. */
export function recordHits(
  by: Value<string>,
  now: Value<number>,
  subjects: [subject: Value<string>, when: SQL][],
): SQL {
  const each = subjects.map(([subject, when]) => sql`select ${subject}, ${now}, ${by} where ${when}`);
  return sql`insert into hits (subject, at, by) ${sql.join(each, sql` union all `)}`;
}

/** SQL: whether the act `by` was remembered for the subject. */
export function wasRecorded(subject: Value<string>, by: Value<string>, now: Value<number>): SQL {
  return sql`exists (select 1 from hits where subject = ${subject} and at = ${now} and by = ${by})`;
}
