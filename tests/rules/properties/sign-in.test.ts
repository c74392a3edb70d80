import { readdirSync, readFileSync } from 'node:fs';
import { createClient } from '@libsql/client/sqlite3';
import { drizzle } from 'drizzle-orm/libsql/sqlite3';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { issueCode, type SignInCall, redeemCode } from '../../../worker/sign-in/one-time-code.ts';
import { parseLimits } from '../../../worker/lib/rate-limits.ts';
import { canonicalPhone } from '../../../worker/accounts/phone.ts';

const phone = canonicalPhone('+15551234567');
const start = Date.UTC(2026, 10, 2);
const lifetimeMs = 300_000;
const tries = 3;
const guessesADay = 6;
const migrations = new URL('../../../drizzle/migrations/', import.meta.url);
const schema = readdirSync(migrations)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .map((file) => readFileSync(new URL(file, migrations), 'utf8'))
  .join(';\n');
const settings = {
  CODE_PEPPER: ['pepper'],
  CODE_LIFETIME_SECONDS: lifetimeMs / 1000,
  CODE_TRIES: tries,
  LIMIT_CODES_PER_NUMBER: parseLimits('1/30s 5/1h'),
  LIMIT_WRONG_TRIES_PER_NUMBER: parseLimits(`${guessesADay}/1d`),
  LIMIT_CODES_PER_ADDRESS: parseLimits('20/1h'),
  LIMIT_CODE_REQUESTS_PER_ADDRESS: parseLimits('60/1h'),
  LIMIT_TRIES_PER_ADDRESS: parseLimits('60/5m'),
  LIMIT_CODES_PER_NETWORK: parseLimits('100/1h'),
  LIMIT_CODE_REQUESTS_PER_NETWORK: parseLimits('300/1h'),
  LIMIT_TRIES_PER_NETWORK: parseLimits('300/5m'),
  CODE_BUDGET_PER_DAY: 5000,
};

type Step = { kind: 'ask' | 'right' | 'wrong' | 'older'; wait: number };
type Event = Step & { at: number; code: string; done: boolean; limited: boolean };

const kind = fc.constantFrom<Step['kind']>('ask', 'ask', 'right', 'right', 'wrong', 'wrong', 'wrong', 'wrong', 'older');
/** Mostly in quick succession, else around the ends of the limits' windows. */
const wait = fc.oneof(
  { weight: 4, arbitrary: fc.nat(9_000) },
  { weight: 1, arbitrary: fc.constantFrom(0, 29_999, 30_000, lifetimeMs - 1, lifetimeMs, 3_600_000) },
);
const steps = fc.array(fc.record({ kind, wait }), { minLength: 10, maxLength: 40 });

const client = createClient({ url: ':memory:' });
const db = drizzle(client);
let emptyTables: string;
beforeAll(async () => {
  await client.executeMultiple(schema.replaceAll('--> statement-breakpoint', ''));
  const { rows } = await client.execute("select name from sqlite_master where type = 'table'");
  emptyTables = rows.map(({ name }) => `delete from ${name as string};`).join('');
});
afterAll(() => client.close());

/** A user who requests codes and tries the newest, an older one, or a guess. */
async function play(list: Step[]): Promise<Event[]> {
  await client.executeMultiple(emptyTables);
  await client.execute({
    sql: `insert into users (id, phone, status, created_at, contacted_at, week_anchor, week_start) values ('u', ?, 'approved', ?, ?, ?, ?)`,
    args: [phone, start, start, start, start],
  });
  const events: Event[] = [];
  let now = start;
  for (const [index, step] of list.entries()) {
    now += step.wait;
    const call = { db, settings, address: '192.0.2.1', now } as unknown as SignInCall;
    const code = step.kind === 'ask' ? String(100_000 + index) : codeFor(step.kind, events);
    const { limitedUntil, done } = await take(call, step.kind, code);
    events.push({ ...step, at: now, code, done, limited: limitedUntil > 0 });
  }
  return events;
}

async function take(call: SignInCall, kind: Step['kind'], code: string) {
  if (kind !== 'ask') {
    const { limitedUntil, opened } = await redeemCode(call, phone, code);
    return { limitedUntil, done: opened !== null };
  }
  const { limitedUntil } = await issueCode(call, phone, code);
  return { limitedUntil, done: limitedUntil === 0 };
}

function codeFor(kind: Step['kind'], events: Event[]): string {
  const sent = events.filter((event) => event.kind === 'ask' && event.done);
  if (kind === 'right') return sent.at(-1)?.code ?? '000000';
  return kind === 'older' ? (sent.at(-2)?.code ?? '000001') : '999999';
}

const everyStory = (check: (events: Event[]) => void) =>
  fc.assert(
    fc.asyncProperty(steps, async (list) => check(await play(list))),
    { numRuns: 60 },
  );

/** The last live code before an event, and the attempts at it. */
const storyOf = (events: Event[], event: Event) => {
  const until = events.indexOf(event);
  const sentAt = events.findLastIndex(({ kind, done }, index) => index < until && kind === 'ask' && done);
  const tried = events.slice(sentAt + 1, until).filter(({ kind, limited }) => kind !== 'ask' && !limited);
  return { sent: events[sentAt], tried, used: tried.some(({ done }) => done) };
};

/** Whether a code was live and had attempts left. */
const hadChance = (events: Event[], event: Event) => {
  const { sent, tried, used } = storyOf(events, event);
  return sent !== undefined && event.at < sent.at + lifetimeMs && tried.length < tries && !used;
};

it('signs in by the newest code alone, once, before it expires and within its attempts', async () => {
  await everyStory((events) => {
    for (const event of events.filter(({ kind, done }) => kind !== 'ask' && done)) {
      expect(event.code).toBe(storyOf(events, event).sent?.code);
      expect(hadChance(events, event)).toBe(true);
    }
  });
});

it('accepts the right code whenever it is live and no limit was reached', async () => {
  await everyStory((events) => {
    for (const event of events.filter(({ kind, limited }) => kind === 'right' && !limited)) {
      expect(event.done).toBe(hadChance(events, event));
    }
  });
});

it('lets strangers guess at the codes of a number no more often than a day allows', async () => {
  await everyStory((events) => {
    const guesses = events.filter(
      (event) => event.kind !== 'ask' && !event.done && !event.limited && hadChance(events, event),
    );
    for (const { at: from } of guesses) {
      expect(guesses.filter(({ at }) => at >= from && at < from + 86_400_000).length).toBeLessThanOrEqual(guessesADay);
    }
  });
});

it('sends five codes an hour at most, thirty seconds apart', async () => {
  await everyStory((events) => {
    const sent = events.filter(({ kind, done }) => kind === 'ask' && done).map(({ at }) => at);
    for (const [index, at] of sent.entries()) {
      expect(at - (sent[index - 1] ?? -Infinity)).toBeGreaterThanOrEqual(30_000);
      expect(at - (sent[index - 5] ?? -Infinity)).toBeGreaterThanOrEqual(3_600_000);
    }
  });
});
