import { redeemNewestCode } from '../../worker/sign-in/redeem-newest-code.ts';
import { newCode, newLinkCode } from '../../worker/sign-in/code-secrets.ts';
import { issueCode } from '../../worker/sign-in/issue-code.ts';
import { describe, expect, it, afterEach, beforeEach, vi, afterAll, beforeAll } from 'vitest';
import { signToken, verifyToken } from '../../worker/sign-in/session-token.ts';
import { expiryOf, tokenExpired } from '../../web/rules/token-claims.ts';
import { afterSignIn, returnPage } from '../../web/rules/destinations.ts';
import { finishSignIn } from '../../web/pages/login/sign-in-toasts.ts';
import { toasts } from '../../web/data/toasts.ts';
import { createClient } from '@libsql/client/sqlite3';
import { drizzle } from 'drizzle-orm/libsql/sqlite3';
import { migrate } from 'drizzle-orm/libsql/migrator';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { SettingRules, type SettingValues } from '../../worker/setting-rules.ts';
import { withRequire } from '../../worker/settings.ts';
import { parseLimits } from '../../worker/lib/rate-limits.ts';
import { canonicalPhone } from '../../worker/identity/phone.ts';

it.each([
  ['a code is six digits, leading zeros kept, spread evenly', newCode, /^\d{6}$/, 10],
  [
    'a link code is eight characters that nobody confuses, spread evenly',
    newLinkCode,
    /^[2-9A-HJKMNP-Z]{8}$/,
    31,
  ],
])('%s', (_, make, pattern, characters) => {
  const codes = Array.from({ length: 20_000 }, make);
  expect(codes.filter((code) => !pattern.test(code))).toEqual([]);
  const counts = Object.values(Object.groupBy(codes.join(''), (character) => character)).map(
    (all) => all!.length,
  );
  expect(counts).toHaveLength(characters);
  const expected = codes.join('').length / characters;
  // Six standard deviations at most.
  for (const count of counts)
    expect(Math.abs(count - expected)).toBeLessThan(6 * Math.sqrt(expected));
});

describe('a session token', () => {
  const ring = `new:${Buffer.alloc(32, 'key').toString('base64url')}`;
  const claims = { userId: 'somebody', sessionId: 'a session' };
  const sign = (more = {}) =>
    signToken(ring, 'session+jwt', { ...claims, ...more }, Math.floor(Date.now() / 1000) + 60);
  const verify = (token: string) => verifyToken(ring, ['session+jwt'], token);

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('is verified once: later calls only check its age and type', async () => {
    // In the same second another test's token would be the same, and known.
    const own = { ...claims, sessionId: 'of this test' };
    const token = await sign(own);
    const verifySignature = vi.spyOn(crypto.subtle, 'verify');
    for (let time = 0; time < 3; time += 1) expect(await verify(token)).toEqual(own);
    expect(verifySignature).toHaveBeenCalledTimes(1);
    expect(await verifyToken(ring, ['stream+jwt'], token)).toBeNull();
    vi.setSystemTime(Date.now() + 59_000);
    expect(await verify(token)).toEqual(own);
    vi.setSystemTime(Date.now() + 1_000);
    expect(await verify(token)).toBeNull();
  });

  it('is refused each time when a single character differs', async () => {
    const token = await sign();
    await verify(token);
    const forged = token.replace(/.(?=.{20}$)/, (character) => (character === 'A' ? 'B' : 'A'));
    for (let time = 0; time < 2; time += 1) expect(await verify(forged)).toBeNull();
  });

  it('is verified again after a thousand other tokens', async () => {
    const numbers = Array.from({ length: 1001 }, (_, index) => ({ sessionId: String(index) }));
    const tokens = await Promise.all(numbers.map((sessionId) => sign(sessionId)));
    for (const token of tokens) await verify(token);
    const verifySignature = vi.spyOn(crypto.subtle, 'verify');
    await verify(tokens[1]!);
    expect(verifySignature).not.toHaveBeenCalled();
    expect(await verify(tokens[0]!)).toMatchObject({ sessionId: '0' });
    expect(verifySignature).toHaveBeenCalledTimes(1);
  });
});

describe('the token in the browser', () => {
  const now = Date.UTC(2025, 0, 5);
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (claims: unknown, header = 'header') => `${header}.${encode(claims)}.signature`;

  it.each([
    ['from its expiry on', token({ exp: now / 1000 }), true],
    ['after it', token({ exp: now / 1000 - 1 }), true],
    ['not before it', token({ exp: now / 1000 + 1 }), false],
    ['not without an expiry', token({}), false],
    ['not with an unreadable expiry', token({ exp: 'yesterday' }), false],
    ['not without a signature', 'one.two', false],
    ['not with unreadable claims', 'not.base64!.either', false],
    ['not if it is a token of tests', token({ exp: 1 }, 'my-test-token'), false],
    ['not if it is a token of journeys', token({ exp: 1 }, 'e2e-anything'), false],
    ['if it only looks like one', token({ exp: 1 }, 'xe2e-anything'), true],
  ])('has expired %s', (_, stored, expired) => {
    expect(tokenExpired(stored, now)).toBe(expired);
  });

  it('reads claims with letters beyond ASCII', () => {
    expect(expiryOf(token({ name: 'Ünïcødé ÿÿÿ', exp: 7 }))).toBe(7);
  });
});

describe('the page after a sign-in', () => {
  it.each([
    ['approved', {}, '/account', 'none'],
    ['authenticated', {}, '/account', 'none'],
    [undefined, {}, '/account', 'none'],
    ['pending', {}, '/pending-approval', 'none'],
    ['suspended', {}, '/', 'issue'],
    ['pending', { plan: 'premium' }, '/account', 'success'],
    ['approved', { plan: 'free' }, '/account', 'success'],
    ['approved', { plan: 'gold' }, '/account', 'none'],
    ['suspended', { plan: 'gold' }, '/', 'issue'],
    ['suspended', { plan: 'free' }, '/account', 'success'],
    ['approved', { next: '/cancel' }, '/cancel', 'none'],
    ['pending', { next: '/cancel' }, '/pending-approval', 'none'],
    ['suspended', { next: '/cancel' }, '/', 'issue'],
    ['approved', { next: '/chat' }, '/chat', 'none'],
    ['approved', { next: '//evil.example' }, '/account', 'none'],
  ] as const)('with the status %s and %j is %s', (status, wanted, to, toast) => {
    const { search = {}, ...page } = afterSignIn(status, wanted);
    expect({ ...page, search }).toEqual({ to, toast, search: {} });
  });

  it.each([
    ['approved', {}, []],
    ['approved', { plan: 'premium' }, [['success', 'Login successful!', undefined]]],
    [
      'suspended',
      {},
      [['error', 'Login Issue', 'Account status: suspended. Please contact support.']],
    ],
  ])('with the status %s and %j says %j', (status, wanted, said) => {
    // What another file has left.
    toasts.take();
    finishSignIn(status, wanted);
    const shown = toasts
      .take()
      .toasts.map(({ type, title, description }) => [type, title, description]);
    expect(shown).toEqual(said);
  });

  it('keeps the parameters that the page takes, and no other', () => {
    const next = '/account?session_id=cs_test_1&status=ok&next=//evil.example&x=1';
    expect(afterSignIn('approved', { next })).toEqual({
      to: '/account',
      search: { session_id: 'cs_test_1', status: 'ok' },
      toast: 'none',
    });
  });

  it.each([
    ['/cancel', '/cancel'],
    ['/pt-br/cancel', '/cancel'],
    ['/chat', '/chat'],
    ['/withdraw', '/withdraw'],
    ['/es/withdraw', '/withdraw'],
    ['/es/chat/', '/chat'],
    ['/chat?x=1#y', '/chat'],
    ['/account', undefined],
    ['/account?x=1', undefined],
    ['/es/account?session_id=cs_1&x=1', '/account?session_id=cs_1'],
    ['/account?session_id=<script>', undefined],
    ['/account?session_id=javascript:alert(1)', undefined],
    [`/account?session_id=${'a'.repeat(201)}`, undefined],
    ['/fr/chat', undefined],
    ['/plans', undefined],
    ['/login?next=/chat', undefined],
    ['chat', undefined],
    ['/CHAT', undefined],
    ['/chat/../plans', undefined],
    ['/%63hat', undefined],
    ['/chat%2f..%2f..', undefined],
    ['/\\\\evil.example/chat', undefined],
    ['\\\\evil.example', undefined],
    ['/\t/evil.example/chat', undefined],
    [' /chat', undefined],
    ['javascript:alert(1)//chat', undefined],
    ['data:text/html,/chat', undefined],
    ['http:/chat', undefined],
    ['//chat', undefined],
    ['/es//chat', undefined],
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
  const defaults = Object.entries(SettingRules.entries).map(([name, schema]) => [
    name,
    v.safeParse(schema, undefined).output,
  ]);
  const settings = withRequire({
    ...Object.fromEntries(defaults),
    CODE_PEPPER: ['pepper'],
    CODE_LIFETIME_SECONDS: lifetimeMs / 1000,
    CODE_TRIES: tries,
    LIMIT_CODES_PER_NUMBER: parseLimits('1/30s 5/1h'),
    LIMIT_WRONG_TRIES_PER_NUMBER: parseLimits(`${guessesADay}/1d`),
  } as SettingValues);

  type Call = Parameters<typeof issueCode>[0];
  type Step = { kind: 'ask' | 'right' | 'wrong' | 'older'; wait: number };
  type Event = {
    isRequest: boolean;
    at: number;
    code: string;
    done: boolean;
    limited: boolean;
  };

  const kind = fc.constantFrom<Step['kind'][]>('ask', 'right', 'wrong', 'wrong', 'older');
  /** Mostly in quick succession, else around the ends of the limits' windows. */
  const wait = fc.oneof(
    { weight: 4, arbitrary: fc.nat(9_000) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(0, 29_999, 30_000, lifetimeMs - 1, lifetimeMs, 3_600_000),
    },
  );
  const steps = fc.array(
    fc.record({
      kind,
      wait,
    }),
    {
      minLength: 10,
      maxLength: 40,
    },
  );

  const client = createClient({ url: ':memory:' });
  const db = drizzle(client);
  let emptyTables: string;
  beforeAll(async () => {
    await migrate(db, { migrationsFolder: 'drizzle/migrations' });
    const { rows } = await client.execute("select name from sqlite_master where type = 'table'");
    emptyTables = rows.map(({ name }) => `delete from ${name as string};`).join('');
  });
  afterAll(() => client.close());

  /** A user who requests codes and tries the newest, an older one, or a guess. */
  async function play(list: Step[]): Promise<Event[]> {
    await client.executeMultiple(emptyTables);
    const sql = `insert into users (id, phone, status, created_at, contacted_at, week_anchor, week_start) values ('u', ?1, 'approved', ?2, ?2, ?2, ?2)`;
    await client.execute(sql, [phone, start]);
    const alias = `insert into aliases (kind, value, user_id, proof, at) values ('phone', ?, 'u', 'contact', ?)`;
    await client.execute(alias, [phone, start]);
    const events: Event[] = [];
    const sent: string[] = [];
    let at = start;
    for (const [index, { kind, wait }] of list.entries()) {
      at += wait;
      const call = {
        db,
        settings,
        address: '192.0.2.1',
        now: at,
        language: 'en',
      } as unknown as Call;
      if (kind === 'ask') {
        const code = String(100_000 + index);
        const { kind: outcome } = await issueCode(call, { phone, phoneAsSent: phone }, code);
        if (outcome !== 'limited') sent.push(code);
        events.push({
          isRequest: true,
          at,
          code,
          done: outcome === 'issued',
          limited: outcome === 'limited',
        });
      } else {
        const code =
          {
            right: sent.at(-1),
            older: sent.at(-2),
            wrong: undefined,
          }[kind] ?? '999999';
        const { kind: outcome } = await redeemNewestCode(call, {
          phone,
          code,
        });
        events.push({
          isRequest: false,
          at,
          code,
          done: outcome === 'signedIn',
          limited: outcome === 'limited',
        });
      }
    }
    return events;
  }

  function expectWithin(instants: number[], most: number, per: number): void {
    for (const [index, at] of instants.slice(most).entries())
      expect(at - instants[index]!).toBeGreaterThanOrEqual(per);
  }

  /** Expects the newest code alone to sign in, live and once, and guesses and codes to stay within their limits. */
  function check(events: Event[]): void {
    let newest: Event | undefined;
    let tried: Event[] = [];
    const codes: number[] = [];
    const guesses: number[] = [];
    for (const event of events.filter(({ limited }) => !limited)) {
      const { isRequest, at, code, done } = event;
      if (isRequest) {
        newest = event;
        tried = [];
        codes.push(at);
        continue;
      }
      const isUsedUp = tried.length >= tries || tried.some((one) => one.done);
      const isLive = newest !== undefined && at < newest.at + lifetimeMs && !isUsedUp;
      expect(done, `${code} at ${at}`).toBe(isLive && code === newest?.code);
      if (isLive && !done) guesses.push(at);
      tried.push(event);
    }
    expectWithin(codes, 1, 30_000);
    expectWithin(codes, 5, 3_600_000);
    expectWithin(guesses, guessesADay, 86_400_000);
  }

  it('is by the newest code alone, live and once, and strangers guess and number codes no more than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => check(await play(list))),
      { numRuns: 60 },
    );
  });
});
