import { env } from 'cloudflare:workers';
import { expect, expectTypeOf, it } from 'vitest';
import type { canonicalPhone, PhoneNumber } from '../../worker/identity/phone.ts';
import { type Endpoint, endpoints } from '../../worker/contract/endpoints.ts';
import type { Env } from '../../worker/env.ts';
import type { Handler } from '../../worker/http/handlers.ts';
import { type Answer, botCall, botHeaders, call, runCron, send, vars } from './support/api.ts';
import { buy } from './support/buying.ts';
import { consent, newWriter, readChat, reply, untilDelivered, write } from './support/chat.ts';
import { eventually } from './support/clock.ts';
import {
  beginChange,
  claimNumber,
  newCode,
  redeem,
  requestOtp,
  verifyChange,
  verifyOtp,
} from './support/codes.ts';
import { newBusinessUserId, newContact, newPhone } from './support/contacts.ts';
import {
  exportOf,
  externalSession,
  getMe,
  logOut,
  newPerson,
  trialSession,
  userOf,
} from './support/person.ts';
import { costOf, logLines, watchDatabase } from './support/requests.ts';
import { database, newestCode, outboxOf, run, sandbox } from './support/sandbox.ts';
import { OpenChat, OpenStream } from './support/streams.ts';

it('names the deployed version in a header, and nothing of it in the body', async () => {
  const { VERSION } = env as unknown as Env;
  const response = await send('/api/health');
  expect(VERSION?.id).toMatch(/^[\da-f-]{36}$/);
  expect(response.headers.get('x-version')).toBe(VERSION?.id);
  expect(await response.json()).toEqual({
    status: 'ok',
    checks: { database: 'ok' },
  });
});

it('describes every call of the table but those of support, with its body and every status it can answer', async () => {
  const { status, headers, body } = await call('GET', '/api/openapi.json');
  expect([status, headers.get('content-type'), body.openapi]).toEqual([
    200,
    'application/json',
    '3.1.0',
  ]);
  const described = Object.entries(body.paths).flatMap(([path, operations]) =>
    Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
  );
  // Only the owner's support command makes its calls, so the document leaves them out.
  const table = (Object.entries(endpoints) as [string, Endpoint][])
    .filter(([, { access }]) => access !== 'support')
    .map(([name, endpoint]) => ({
      ...endpoint,
      name,
      path: endpoint.path.replaceAll(/:(\w+)/g, '{$1}'),
    }));
  expect(described.toSorted()).toEqual(
    table.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
  for (const { name, method, path, input, access, whilePending } of table) {
    const operation = body.paths[path][method.toLowerCase()];
    expect(operation.operationId).toBe(name);
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', '500', '503']));
    if (input) expect(operation.requestBody.content['application/json'].schema.type).toBe('object');
    if (access === 'user' || access === 'bot') expect(operation.responses).toHaveProperty('401');
    if (access === 'user' && !whilePending) expect(operation.responses).toHaveProperty('403');
    if (access === 'bot') expect(operation.responses).toHaveProperty('409');
  }
  expect(
    body.paths['/api/bot/usage'].post.requestBody.content['application/json'].schema,
  ).toMatchObject({
    anyOf: [{ required: ['phone'] }, { required: ['businessUserId'] }],
    additionalProperties: false,
    properties: {
      count: {
        type: 'integer',
        minimum: 1,
        maximum: 100,
        default: 1,
      },
    },
  });
});

const lineOf = ({ headers }: Answer) =>
  logLines('request_completed').find(({ requestId }) => requestId === headers.get('x-request-id'));

it('writes one structured line per request, without personal data', async () => {
  const { phone, otp } = await newCode();
  const verified = await verifyOtp(phone, otp);
  const { token } = verified.body;
  const responses = [
    verified,
    await call('GET', '/api/user/me?secret=in-the-query', { token }),
    await call('GET', `/api/user/usage-stream?token=${token}x`),
    await verifyOtp(phone, otp),
    await requestOtp(phone),
    await requestOtp(newPhone()),
  ];

  const lines = responses.map((response) => lineOf(response)!);
  expect(lines[0]).toEqual({
    level: 'info',
    event: 'request_completed',
    requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    method: 'POST',
    route: '/api/auth/verify-otp',
    status: 200,
    ms: expect.any(Number),
    databaseRequests: 1,
    outcome: 'right',
    phone: expect.stringMatching(/^[\da-f]{8}$/),
  });
  const tag = lines[0]!['phone'];
  expect(lines.slice(1).map(({ code, phone }) => [code, phone])).toEqual([
    [undefined, undefined],
    ['unauthenticated', undefined],
    ['invalid_code', tag],
    ['rate_limited', tag],
    [undefined, expect.not.stringMatching(tag as string)],
  ]);
  const all = JSON.stringify(logLines());
  for (const secret of [phone.slice(1), otp, token, 'in-the-query'])
    expect(all).not.toContain(secret);
});

/** `npm run types` checks these. */
it('compiles no handler that does not check its session, and no number that is not canonical', () => {
  type Answer = Promise<{ success: true; platform: 'web' }>;
  expectTypeOf<() => Answer>().not.toExtend<Handler<'getPlatform'>>();
  expectTypeOf<Handler<'getPlatform'>>().parameter(0).toHaveProperty('session');
  expectTypeOf<Handler<'requestOtp'>>().parameter(0).not.toHaveProperty('session');
  expectTypeOf<string>().not.toExtend<PhoneNumber>();
  expectTypeOf<typeof canonicalPhone>().returns.toEqualTypeOf<PhoneNumber>();
});

function expectTurnedOff({ status, body, headers }: Answer, setting: string): void {
  expect({ status, body }).toMatchObject({
    status: 503,
    body: { success: false, code: 'unavailable' },
  });
  expect(headers.get('retry-after')).toBe('60');
  const line = { level: 'error', settings: [setting] };
  expect(logLines('settings_invalid')).toContainEqual(expect.objectContaining(line));
}

it.each([
  ['SITE_URL', 'paused'],
  ['SESSION_KEYS', ''],
  ['CODE_PEPPER', 'a-short-pepper'],
  ['CODE_PEPPER', `${'p'.repeat(32)} short`],
  ['CODE_PEPPER', `${'p'.repeat(32)} ${'p'.repeat(32)}`],
  ['SESSION_KEYS', `one:${'s'.repeat(43)} two:${'s'.repeat(43)}`],
  ['TURSO_DATABASE_URL', ''],
])('serves no call while %s is "%s"; the log names it and not its value', async (name, value) => {
  // A call that reached for the database would say that it is down.
  const settings = {
    TURSO_DATABASE_URL: 'http://127.0.0.1:9',
    [name]: value,
  };
  expectTurnedOff(await call('GET', '/api/health', { settings }), name);
  if (value) expect(JSON.stringify(logLines())).not.toContain(value);
});

const signInPath = '/api/auth/request-otp';
const buyPath = '/api/billing/create-subscription-update-session';

it.each([
  ['LIMIT_CODES_PER_NUMBER', '5/2d', signInPath],
  ['LIMIT_CODES_PER_NUMBER', '5/1h 0/1d', signInPath],
  ['CODE_BUDGET_PER_DAY', 'many', signInPath],
  ['STRIPE_SECRET_KEY', 'pk_test_public', buyPath],
  ['STRIPE_API_BASE', 'stripe', buyPath],
  ['BOT_WEBHOOK_SECRET', 'whsec_c2hvcnQ=', '/api/bot/usage'],
  // A secret that is another one too.
  ['STRIPE_WEBHOOK_SECRET', vars.SESSION_KEYS!.split(/[: ]/)[1]!, '/api/webhooks/stripe'],
])('%s = "%s" turns off %s alone, and the log names it', async (name, value, path) => {
  const { phone, token } = await newPerson();
  const settings = { [name]: value };
  const body = { phone, tier: 'basic' };
  const headers = {
    ...botHeaders(JSON.stringify(body)),
    'stripe-signature': `t=${Math.floor(Date.now() / 1000)},v1=0`,
  };
  expectTurnedOff(
    await call('POST', path, {
      token,
      body,
      headers,
      settings,
    }),
    name,
  );
  expect(
    (
      await call('GET', '/api/user/me', {
        token,
        settings,
      })
    ).status,
  ).toBe(200);
  expect((await call('GET', '/api/health', { settings })).status).toBe(200);
  expect(logLines('request_failed')).toEqual([]);
});

it('keeps the events for the bot while its address is malformed, and writes none where it is left out', async () => {
  const choose = (options: object) => call('PUT', '/api/user/platform', options);
  const leave = (options: object) => call('DELETE', '/api/user/me', options);
  for (const BOT_WEBHOOK_URL of ['the bot', '']) {
    const { phone, token } = await newPerson();
    const choice = {
      token,
      body: { platform: 'web' },
      settings: { BOT_WEBHOOK_URL },
    };
    for (const ask of [choose, leave]) {
      expect((await ask(choice)).status).toBe(200);
      expect(await outboxOf(phone)).toHaveLength(BOT_WEBHOOK_URL ? 1 : 0);
    }
  }
});

it('runs no scheduled task without its settings', async () => {
  const id = crypto.randomUUID();
  await run("insert into used_tokens values (?, 'by', 1)", id);
  const rows = async () => (await run('select 1 from used_tokens where id = ?', id)).rows;
  await runCron('* * * * *', { SITE_URL: 'paused' });
  expect(await rows()).toHaveLength(1);
  await runCron();
  expect(await rows()).toHaveLength(0);
});

/** `identities.test.ts` has the calls of the bot, `usage.test.ts` and `chat-stream.test.ts` waiting streams. */
it('makes one database request for each frequent call, and few behind it', async () => {
  const { phone } = await newContact();
  for (const _ of ['sent', 'refused']) expect(costOf(await requestOtp(phone))).toBe(1);
  const otp = await newestCode(phone);
  const signIn = await verifyOtp(phone, otp);
  expect([costOf(signIn), costOf(await verifyOtp(phone, otp))]).toEqual([1, 1]);

  const { token } = signIn.body;
  type Made = Promise<{ status: number; headers: Headers }>;
  const calls: [name: string, call: () => Made, behind: number, cost?: number][] = [
    ['profile', () => getMe(token), 0],
    ['platform', () => call('GET', '/api/user/platform', { token }), 0],
    [
      'choice',
      () =>
        call('PUT', '/api/user/platform', {
          token,
          body: { platform: 'whatsapp' },
        }),
      0,
    ],
    ['ticket', () => call('POST', '/api/user/stream-ticket', { token }), 0],
    ['stream', () => OpenStream.open(token), 0],
    // An event is leased, then removed. The number is read before the key that is bound to it is stored.
    ['consent', () => consent(token), 2, 2],
    ['reading', () => call('GET', '/api/user/chat', { token }), 0],
    // The event of a message is leased by the request itself.
    ['writing', () => write(token, 'Hello'), 1],
    ['typing', () => botCall('/api/bot/typing', { phone }), 0],
    [
      'replying',
      () =>
        botCall('/api/bot/messages', {
          phone,
          id: 'reply-1',
          text: 'I hear you.',
        }),
      0,
    ],
    // Clearing is confirmed.
    ['clearing', () => call('DELETE', '/api/user/chat', { token }), 3, 2],
    // It has two events.
    ['withdrawing', () => call('DELETE', '/api/user/chat/consent', { token }), 4],
    // The session is found before anything is written.
    ['logout', () => logOut(token), 0, 2],
  ];
  const requests = watchDatabase(phone, userOf(token));
  for (const [name, each, behind, cost = 1] of calls) {
    requests.length = 0;
    const result = await each();
    expect({ status: result.status, cost: costOf(result) }, name).toEqual({
      status: 200,
      cost,
    });
    await untilDelivered(phone);
    await eventually(() => expect(requests, name).toHaveLength(cost + behind));
  }
});

/** Allowed scans: constant rows, the rows of a subquery (also named ones), lists of values (also at a path), and partial indexes of due rows. */
const harmless =
  /^SCAN ((\d+ )?CONSTANT ROWS?|\(subquery-\d+\)|facts|tried|person|due|theirs|\w+ VIRTUAL TABLE INDEX [13]:|customers USING INDEX customers_due)$/;

async function everyCall(): Promise<void> {
  const { phone, token } = await newPerson();
  for (const name of ['usage', 'entitlements']) await botCall(`/api/bot/${name}`, { phone });
  await botCall('/api/bot/approvals', { phone, status: 'approved' });
  await call('GET', '/api/user/me', { token });
  await call('PUT', '/api/user/platform', {
    token,
    body: { platform: 'web' },
  });
  await OpenStream.open(token);
  await call('POST', '/api/user/stream-ticket', { token });
  await buy(token);
  await call('POST', '/api/billing/create-portal-session', { token });
  await trialSession(phone, { tier: 'premium', days: 3 });
  for (const everywhere of [false, true]) await logOut(await externalSession(phone), everywhere);
  const writer = await newWriter();
  await OpenChat.open(writer.token);
  const { message } = (await write(writer.token, 'Hello')).body;
  await write(writer.token, 'Hello', message.id);
  await reply(writer.phone, 'Hello', 'reply-1', { crisis: true });
  await botCall('/api/bot/typing', { phone: writer.phone });
  await botCall('/api/bot/referrals', { phone: writer.phone });
  await readChat(writer.token);
  await call('GET', '/api/user/sessions', { token: writer.token });
  const browser = await sandbox.newBrowser(writer.phone);
  await call('PUT', '/api/user/push', {
    token: writer.token,
    body: browser,
  });
  await exportOf(writer.token);
  await verifyChange(writer.token, await beginChange(writer.token));
  await redeem(await claimNumber());
  await requestOtp(writer.phone);
  await call('GET', '/api/billing/withdrawal', { token });
  await call('POST', '/api/withdrawals', {
    body: {
      name: 'Somebody',
      contact: phone,
    },
  });
  for (const _ of ['linked', 'in conflict'])
    await botCall('/api/bot/contacts', {
      phone,
      businessUserId: newBusinessUserId(),
    });
  for (const path of ['', '/consent'])
    await call('DELETE', `/api/user/chat${path}`, { token: writer.token });
  await call('DELETE', '/api/user/me', {
    token: await externalSession((await newContact()).phone),
  });
  await runCron();
  await runCron('0 * * * *');
  await call('GET', '/api/health');
}

it('finds every row by an index', async () => {
  const requests = watchDatabase('"requests"');
  await everyCall();
  const statements = new Set<string>();
  for (const { text } of requests)
    JSON.parse(text, (key, value) => {
      if (key === 'sql' && !/^(begin|commit)/i.test(value)) statements.add(value);
    });
  expect(statements.size).toBeGreaterThan(40);
  const scans: string[] = [];
  for (const sql of statements) {
    const values = Array.from(sql.matchAll(/\?/g), () => 1);
    const { rows } = await database.execute(`explain query plan ${sql}`, values);
    const plan = rows.map(({ detail }) => detail as string);
    const slow = plan.filter((step) => step.startsWith('SCAN') && !harmless.test(step));
    if (slow.length > 0) scans.push(`${slow.join('; ')} in ${sql}`);
  }
  expect(scans).toEqual([]);
});
