import { type SQL } from 'drizzle-orm';
import { sql } from './sql-text.ts';
import { rateLimitEvents } from '#db/schema';
import { list } from './expressions.ts';
import { memoize } from './memoize.ts';
import { isIn } from './sql.ts';
import { dayMs, hourMs, minuteMs } from './time.ts';
import type { On, Transaction } from './transaction.ts';

const { subject: subjects, at: instants } = rateLimitEvents;

export type Subject = string[];

export type Limited = { subject: Subject; limits: Limit[] };

/** Under each pepper: rotating one opens no limit. */
export function hashedSubject(prefix: string, hashes: string[]): Subject {
  return hashes.map((hash) => `${prefix}:${hash}`);
}

export const subjectsIn = (limited: Limited[]): Subject[] => limited.map(({ subject }) => subject);

/** In unix ms; 0 if no limit applies. */
export function allowedAtSql(limited: Limited[]): SQL<number> {
  const each = limited.flatMap(({ subject, limits }) =>
    limits.map((limit) => sql`coalesce(${nthNewest(subject, limit)} + ${literal(limit.per)}, 0)`),
  );
  const zero = literal(0);
  return sql`max(${list([zero, zero, ...each])})`;
}

/** SQLite takes no offset that depends on a row. */
function nthNewest(subject: Subject, { most }: Limit): SQL {
  return sql`(
    select ${instants} from ${rateLimitEvents} where ${isIn(subjects, subject)}
    order by ${instants} desc limit 1 offset ${literal(most - 1)})`;
}

const literal = (value: number) => sql.raw(String(value));

export function recordEvents<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  recorded: Subject[],
  { now, by = tx.id, where }: { now: number; by?: string; where?: SQL },
): void {
  const event = { subject: sql`name.value`, at: now, by };
  tx.insert(on, rateLimitEvents, event, {
    from: sql`json_each(${JSON.stringify(namesOf(recorded))}) as name`,
    ...(where && { where }),
  });
}

export function recordEventsByOutcome<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  now: number,
  recorded: { [Each in NoInfer<Outcome>]?: Subject[] },
): void {
  const outcomes = Object.entries<Subject[]>(recorded as Record<string, Subject[]>);
  const names = outcomes.map(([outcome, subjects]) => [outcome, namesOf(subjects)]);
  const byOutcome = JSON.stringify(Object.fromEntries(names));
  const on = Object.keys(recorded) as unknown as On<Outcome>;
  const event = {
    subject: sql`name.value`,
    at: now,
    by: tx.id,
  };
  tx.insert(on, rateLimitEvents, event, {
    from: sql`json_each(${byOutcome}, '$.' || ${tx.outcome}) as name`,
  });
}

const namesOf = (subjects: Subject[]) => subjects.map(([name]) => name);

export type Limit = { most: number; per: number };

/** No limit looks back further (ms). */
export const rateLimitEventsKeptMs = dayMs;

const units = {
  s: 1_000,
  m: minuteMs,
  h: hourMs,
  d: dayMs,
} as const;

export function parseLimits(text: string): Limit[] {
  return text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [, most, count, unit] = /^(\d+)\/(\d+)([smhd])$/.exec(part)!;
      return {
        most: Number(most),
        per: Number(count) * units[unit as keyof typeof units],
      };
    });
}

const keysKept = 5000;

export class CallLimiter {
  readonly #limits: Limit[];
  readonly #longestMs: number;
  readonly #callsOf = memoize((_key: string): number[] => [], keysKept);

  constructor(limits: Limit[]) {
    this.#limits = limits;
    this.#longestMs = Math.max(...limits.map(({ per }) => per));
  }

  /** Returns 0, or when (unix ms) the key may call. */
  count(key: string, now: number): number {
    const calls = this.#callsOf(key);
    while (calls[0] !== undefined && calls[0] <= now - this.#longestMs) calls.shift();
    const allowedAt = this.allowedAt(key, now);
    if (allowedAt === 0) calls.push(now);
    return allowedAt;
  }

  /** In unix ms; 0 for now. Counts nothing. */
  allowedAt(key: string, now: number): number {
    const calls = this.#callsOf(key);
    const each = this.#limits.map(({ most, per }) => (calls.at(-most) ?? -Infinity) + per);
    const allowedAt = Math.max(...each);
    return allowedAt > now ? allowedAt : 0;
  }

  counted(key: string): number {
    return this.#callsOf(key).length;
  }

  undoCount(key: string, at: number): void {
    const calls = this.#callsOf(key);
    const index = calls.lastIndexOf(at);
    if (index >= 0) calls.splice(index, 1);
  }
}
