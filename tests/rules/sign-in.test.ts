import { redeemCode } from '../../worker/sign-in/code-redemption.ts';
import { issueCode, newCode, newLinkCode, type SignInCall } from '../../worker/sign-in/one-time-code.ts';
import { describe, expect, it, afterEach, beforeEach, vi, afterAll, beforeAll } from 'vitest';
import { signToken, verifyToken } from '../../worker/sign-in/session-token.ts';
import { expiryOf, tokenExpired } from '../../web/rules/token-claims.ts';
import { afterLogin, returnPage } from '../../web/rules/destinations.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { createClient } from '@libsql/client/sqlite3';
import { drizzle } from 'drizzle-orm/libsql/sqlite3';
import * as fc from 'fast-check';
import { parseLimits } from '../../worker/lib/rate-limits.ts';
import { canonicalPhone } from '../../worker/accounts/phone.ts';

describe('a code', () => {
  it('is six digits, leading zeros kept, and spread evenly', () => {
    const codes = Array.from({ length: 20_000 }, newCode);
    expect(codes.every((code) => /^\d{6}$/.test(code))).toBe(true);
    const byFirstDigit = Object.values(Object.groupBy(codes, (code) => code[0]!)).map((group) => group!.length);
    expect(byFirstDigit).toHaveLength(10);
    for (const count of byFirstDigit) expect(Math.abs(count - 2000)).toBeLessThan(300);
  });
});

it('shows a link code of eight characters that nobody confuses, spread evenly', () => {
  const codes = Array.from({ length: 5000 }, newLinkCode);
  expect(codes.every((code) => /^[2-9A-HJKMNP-Z]{8}$/.test(code))).toBe(true);
  const counts = Object.values(Object.groupBy(Array.from(codes.join('')), (character) => character)).map(
    (all) => all!.length,
  );
  expect(counts).toHaveLength(31);
  for (const count of counts) expect(Math.abs(count - 40_000 / 31)).toBeLessThan(250);
});

describe('a session token', () => {
  const key = (kid: string) => `${kid}:${Buffer.alloc(32, kid).toString('base64url')}`;
  const ring = `${key('new')} ${key('old')}`;
  const claims = { userId: 'somebody', sessionId: 'a session' };
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('is verified by the ring that signed it, also by its older key, and by no other', async () => {
    const token = await signToken(key('old'), 'session+jwt', claims, inSeconds(60));
    expect(await verifyToken(ring, ['session+jwt'], token)).toEqual(claims);
    expect(await verifyToken(key('new'), ['session+jwt'], token)).toBeNull();
  });

  it('is verified once: later calls only check its age and type', async () => {
    const token = await signToken(ring, 'session+jwt', claims, inSeconds(60));
    const verify = vi.spyOn(crypto.subtle, 'verify');
    for (let time = 0; time < 3; time += 1) expect(await verifyToken(ring, ['session+jwt'], token)).toEqual(claims);
    expect(verify).toHaveBeenCalledTimes(1);
    expect(await verifyToken(ring, ['stream+jwt'], token)).toBeNull();
    vi.setSystemTime(Date.now() + 59_000);
    expect(await verifyToken(ring, ['session+jwt'], token)).toEqual(claims);
    vi.setSystemTime(Date.now() + 1_000);
    expect(await verifyToken(ring, ['session+jwt'], token)).toBeNull();
  });

  it('is refused each time when a single character differs', async () => {
    const token = await signToken(ring, 'session+jwt', claims, inSeconds(60));
    await verifyToken(ring, ['session+jwt'], token);
    const forged = token.replace(/.(?=.{20}$)/, (character) => (character === 'A' ? 'B' : 'A'));
    for (let time = 0; time < 2; time += 1) expect(await verifyToken(ring, ['session+jwt'], forged)).toBeNull();
  });

  it('is verified again after a thousand other tokens', async () => {
    const sign = (sessionId: string) => signToken(ring, 'session+jwt', { ...claims, sessionId }, inSeconds(60));
    const tokens = await Promise.all(Array.from({ length: 1001 }, (_, index) => sign(String(index))));
    for (const token of tokens) await verifyToken(ring, ['session+jwt'], token);
    const verify = vi.spyOn(crypto.subtle, 'verify');
    await verifyToken(ring, ['session+jwt'], tokens[1]!);
    expect(verify).not.toHaveBeenCalled();
    expect(await verifyToken(ring, ['session+jwt'], tokens[0]!)).toMatchObject({ sessionId: '0' });
    expect(verify).toHaveBeenCalledTimes(1);
  });
});

describe('the token in the browser', () => {
  const now = Date.UTC(2025, 0, 5);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (claims: unknown, header = 'header') => `${header}.${encode(claims)}.signature`;

  it('refuses a token from its expiry on', () => {
    expect(tokenExpired(token({ exp: now / 1000 - 1 }), now)).toBe(true);
    expect(tokenExpired(token({ exp: now / 1000 }), now)).toBe(true);
    expect(tokenExpired(token({ exp: now / 1000 + 1 }), now)).toBe(false);
  });

  it('reads claims with letters beyond ASCII', () => {
    expect(expiryOf(token({ name: 'Ünïcødé ÿÿÿ', exp: 7 }))).toBe(7);
  });

  it('assumes that a token without a readable expiry is valid', () => {
    expect(tokenExpired(token({}), now)).toBe(false);
    expect(tokenExpired(token({ exp: 'yesterday' }), now)).toBe(false);
    expect(tokenExpired('one.two', now)).toBe(false);
    expect(tokenExpired('not.base64!.either', now)).toBe(false);
  });

  it('does not check the tokens of tests', () => {
    expect(tokenExpired(token({ exp: 1 }, 'my-test-token'), now)).toBe(false);
    expect(tokenExpired(token({ exp: 1 }, 'e2e-anything'), now)).toBe(false);
    expect(tokenExpired(token({ exp: 1 }, 'xe2e-anything'), now)).toBe(true);
  });
});

describe('the page after a sign-in', () => {
  it.each([
    ['approved', undefined, '/account', 'none'],
    ['authenticated', undefined, '/account', 'none'],
    [undefined, undefined, '/account', 'none'],
    ['pending', undefined, '/pending-approval', 'none'],
    ['suspended', undefined, '/', 'issue'],
    ['pending', 'premium', '/account', 'success'],
    ['approved', 'free', '/account', 'success'],
    ['approved', 'gold', '/account', 'none'],
    ['suspended', 'gold', '/', 'issue'],
    ['suspended', 'free', '/account', 'success'],
  ])('status %s with plan %s', (status, plan, to, toast) => {
    expect(afterLogin(status, { plan })).toEqual({ to, toast });
  });

  it.each([
    ['approved', '/cancel'],
    ['pending', '/pending-approval'],
    ['suspended', '/'],
  ])('status %s on the way to /cancel', (status, to) => {
    expect(afterLogin(status, { next: '/cancel' }).to).toBe(to);
  });

  it.each([
    ['/cancel', '/cancel'],
    ['/pt-br/cancel', '/cancel'],
    ['/account', undefined],
    ['//evil.example/cancel', undefined],
    ['https://evil.example/cancel', undefined],
    ['/evil.example/a/cancel', undefined],
    [['/cancel'], undefined],
    [undefined, undefined],
  ])('leads back from %s to %s', (path, to) => {
    expect(returnPage(path)).toBe(to);
  });
});

describe('every sign-in', () => {
  const phone = canonicalPhone('+15551234567');
  const start = Date.UTC(2026, 10, 2);
  const lifetimeMs = 300_000;
  const tries = 3;
  const guessesADay = 6;
  const migrations = new URL('../../drizzle/migrations/', import.meta.url);
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
    LIMIT_CODES_PER_NUMBER_HARD: parseLimits('30/1d'),
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

  const kind = fc.constantFrom<Step['kind']>(
    'ask',
    'ask',
    'right',
    'right',
    'wrong',
    'wrong',
    'wrong',
    'wrong',
    'older',
  );
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
      const { limitedUntil, opened } = await redeemCode(call, { phone, code });
      return { limitedUntil, done: opened !== null };
    }
    const { limitedUntil } = await issueCode({ ...call, language: 'en' }, { phone, phoneAsSent: phone }, code);
    return { limitedUntil, done: limitedUntil === 0 };
  }

  function codeFor(kind: Step['kind'], events: Event[]): string {
    const sent = events.filter((event) => event.kind === 'ask' && event.done);
    if (kind === 'right') return sent.at(-1)?.code ?? '000000';
    return kind === 'older' ? (sent.at(-2)?.code ?? '000001') : '999999';
  }

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

  /** The first sign-in, refusal, guess or code of a story that breaks a rule. */
  function fault(events: Event[]): string | undefined {
    const tries = events.filter(({ kind }) => kind !== 'ask');
    const opened = tries.filter(({ done }) => done);
    if (opened.some((event) => event.code !== storyOf(events, event).sent?.code)) return 'not the newest code';
    if (opened.some((event) => !hadChance(events, event))) return 'a code that was used, old, or without tries';
    const right = tries.filter(({ kind, limited, done }) => kind === 'right' && !limited && !done);
    if (right.some((event) => hadChance(events, event))) return 'the right code refused';
    const guesses = tries.filter((event) => !event.done && !event.limited && hadChance(events, event));
    const within = (from: number) => guesses.filter(({ at }) => at >= from && at < from + 86_400_000).length;
    if (guesses.some(({ at }) => within(at) > guessesADay)) return 'more guesses than a day allows';
    const sent = events.filter(({ kind, done }) => kind === 'ask' && done).map(({ at }) => at);
    if (sent.some((at, index) => at - (sent[index - 1] ?? -Infinity) < 30_000)) return 'two codes in 30 seconds';
    return sent.some((at, index) => at - (sent[index - 5] ?? -Infinity) < 3_600_000) ? 'six codes an hour' : undefined;
  }

  it('is by the newest code alone, live and once, and strangers guess and number codes no more than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        expect(fault(await play(list))).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });
});
