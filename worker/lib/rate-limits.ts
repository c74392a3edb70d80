import { sql, type SQL } from 'drizzle-orm';
import { rateLimitEvents } from '#db/schema';
import { memoize } from './memoize.ts';
import { nameOf, type Value } from './sql.ts';
import { dayMs, hourMs, minuteMs } from './time.ts';

const { subject: subjects, at: instants, by: authors } = rateLimitEvents;

/** What limits count, by every name that its events may have; a new event gets the first. */
export type Subject = Value<string>[];

export type Limited = { subject: Subject; limits: Limit[] };

/** The subject of a limit by a keyed hash of a number or address under each pepper: rotating one opens no limit. */
export function hashedSubject(prefix: string, hashes: string[]): string[] {
  return hashes.map((hash) => `${prefix}:${hash}`);
}

export function namesOf(subject: Subject): SQL {
  return sql`(${sql.join(
    subject.map((name) => sql`${name}`),
    sql`, `,
  )})`;
}

/** SQL: the instant (unix ms) from which all limits of all subjects allow an act; 0 if none applies. */
export function allowedAt(limited: Limited[]): SQL<number> {
  const [subjectName, at] = [nameOf(subjects), nameOf(instants)];
  const each = limited.flatMap(({ subject, limits }) =>
    limits.map(
      ({
        most,
        per,
      }) => sql`coalesce((select ${at} from ${rateLimitEvents} where ${subjectName} in ${namesOf(subject)}
        order by ${at} desc limit 1 offset ${sql.raw(String(most - 1))}) + ${sql.raw(String(per))}, 0)`,
    ),
  );
  return sql`max(${sql.join([sql`0`, sql`0`, ...each], sql`, `)})`;
}

/** SQL: records an event `by` for each subject whose condition holds; conditions see the events before. */
export function recordEvents(
  by: Value<string>,
  now: Value<number>,
  events: [subjects: Subject[], when: SQL][],
): SQL {
  const each = events.map(([recorded, when]) => {
    const rows = recorded.map(([name]) => sql`(${name})`);
    return sql`select column1, ${now}, ${by} from (values ${sql.join(rows, sql`, `)}) where ${when}`;
  });
  const columns = [subjects, instants, authors].map(nameOf);
  return sql`insert into ${rateLimitEvents} (${sql.join(columns, sql`, `)}) ${sql.join(each, sql` union all `)}`;
}

export function wasRecorded([name]: Subject, by: Value<string>, now: Value<number>): SQL {
  return sql`exists (select 1 from ${rateLimitEvents}
    where ${subjects} = ${name} and ${instants} = ${now} and ${authors} = ${by})`;
}

export type Limit = { most: number; per: number };

/** Rate-limit events are kept this long (ms); no limit may look back further. */
export const rateLimitEventsKeptMs = dayMs;

const units = { s: 1_000, m: minuteMs, h: hourMs, d: dayMs } as const;

export function parseLimits(text: string): Limit[] {
  return text
    .trim()
    .split(/\s+/)
    .map((part) => {
      const [, most, count, unit] = /^(\d+)\/(\d+)([smhd])$/.exec(part)!;
      return { most: Number(most), per: Number(count) * units[unit as keyof typeof units] };
    });
}

const keysKept = 5000;

/** Counts calls by key in the memory of an isolate, exactly and over sliding windows. */
export class CallLimiter {
  readonly #limits: Limit[];
  readonly #longestMs: number;
  /** The instants (unix ms) of the calls of a key that a limit still counts, oldest first. */
  readonly #callsOf = memoize((_key: string): number[] => [], keysKept);

  constructor(limits: Limit[]) {
    this.#limits = limits;
    this.#longestMs = Math.max(...limits.map(({ per }) => per));
  }

  /** Counts a call and returns 0, or returns the instant (unix ms) at which the key may call again. */
  count(key: string, now: number): number {
    const calls = this.#callsOf(key);
    while (calls[0] !== undefined && calls[0] <= now - this.#longestMs) calls.shift();
    const allowedAt = Math.max(
      ...this.#limits.map(({ most, per }) => (calls.at(-most) ?? -Infinity) + per),
    );
    if (allowedAt > now) return allowedAt;
    calls.push(now);
    return 0;
  }

  counted(key: string): number {
    return this.#callsOf(key).length;
  }

  giveBack(key: string, at: number): void {
    const calls = this.#callsOf(key);
    const index = calls.lastIndexOf(at);
    if (index >= 0) calls.splice(index, 1);
  }
}
