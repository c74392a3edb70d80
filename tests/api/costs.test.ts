import { expect, it, vi } from 'vitest';
import { botCall, call, runCron } from './support/api.ts';
import { outboxOf, consent, newWriter, reply, write } from './support/chat.ts';
import { type Statement, type Step, statementsIn, watchDatabase } from './support/requests.ts';
import { database } from './support/database.ts';
import { costOf } from './support/log.ts';
import { externalSession, newContact, newPerson, receiveCode, userOf } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { OpenChat, OpenStream } from './support/streams.ts';
import { until } from './support/clock.ts';

it('makes one database request for each frequent call', async () => {
  const contact = await newContact();
  const { phone, address } = contact;
  const request = () => call('POST', '/api/auth/request-otp', { body: { phone }, address });
  expect(costOf(await request())).toBe(1);
  expect(costOf(await request())).toBe(1);
  expect(await sandbox.messages(phone)).toHaveLength(1);

  const other = await newContact();
  const otp = await receiveCode(other);
  const verify = () =>
    call('POST', '/api/auth/verify-otp', { body: { phone: other.phone, otp }, address: other.address });
  const signIn = await verify();
  expect(costOf(signIn)).toBe(1);
  expect(costOf(await verify())).toBe(1);

  const { token } = signIn.body;
  const calls = [
    () => call('GET', '/api/user/me', { token }),
    () => call('GET', '/api/user/platform', { token }),
    () => call('PUT', '/api/user/platform', { token, body: { platform: 'whatsapp' } }),
    () => call('POST', '/api/user/stream-ticket', { token }),
    () => botCall('/api/bot/contacts', { phone }),
    () => botCall('/api/bot/usage', { phone }),
    () => botCall('/api/bot/entitlements', { phone }),
  ];
  for (const each of calls) {
    const result = await each();
    expect({ status: result.status, cost: costOf(result) }, String(each)).toEqual({ status: 200, cost: 1 });
  }
  // The session is found before anything is written.
  expect(costOf(await call('POST', '/api/auth/logout', { token }))).toBe(2);
});

it('makes one database request to open a stream, and none while it is idle', async () => {
  const { phone, token } = await newPerson();
  const requests = watchDatabase(phone, userOf(token));
  const stream = await OpenStream.open(token);
  expect(requests).toHaveLength(1);
  await botCall('/api/bot/usage', { phone });
  await stream.until(({ counts }) => counts.at(-1) === 1);
  expect(requests).toHaveLength(2);
  stream.close();
});

it('makes one database request for each chat call, and one more after a message', async () => {
  const { phone, token } = await newPerson();
  const calls: [name: string, call: () => ReturnType<typeof call>, behind: number, cost?: number][] = [
    // An event is leased, then removed. The number is read before the key that is bound to it is stored.
    ['consent', () => consent(token), 2, 2],
    ['reading', () => call('GET', '/api/user/chat', { token }), 0],
    // The event of a message is leased by the request itself.
    ['writing', () => write(token, 'Hello'), 1],
    ['typing', () => botCall('/api/bot/typing', { phone }), 0],
    ['replying', () => botCall('/api/bot/messages', { phone, id: 'reply-1', text: 'I hear you.' }), 0],
    // Clearing is confirmed.
    ['clearing', () => call('DELETE', '/api/user/chat', { token }), 3, 2],
    // It has two events.
    ['withdrawing', () => call('DELETE', '/api/user/chat/consent', { token }), 4],
  ];
  const requests = watchDatabase(phone, userOf(token));
  for (const [name, each, behind, cost = 1] of calls) {
    requests.length = 0;
    const result = await each();
    expect({ status: result.status, cost: costOf(result) }, name).toEqual({ status: 200, cost });
    await until(
      `the events of ${name}`,
      () => outboxOf(phone),
      (events) => events.length === 0,
    );
    await until(
      `the requests of ${name}`,
      () => requests,
      () => requests.length >= cost + behind,
    );
    expect(requests, name).toHaveLength(cost + behind);
  }
});

/** Allowed scans: constant rows, a subquery's one row, and partial indexes of due rows. */
const harmless = /^SCAN ((\d+ )?CONSTANT ROWS?|\(subquery-\d+\)|customers USING INDEX customers_due)$/;

/** The statements that the Worker sends to the database during `work`, by their text. */
async function statementsOf(work: () => Promise<unknown>): Promise<Map<string, Statement>> {
  const statements = new Map<string, Statement>();
  const real = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    if (request.url.endsWith('/pipeline')) {
      const { requests } = await request.clone().json<{ requests: Step[] }>();
      for (const statement of requests.flatMap((step) => statementsIn(step, requests))) {
        statements.set(statement.sql, statement);
      }
    }
    return real(request);
  });
  await work();
  vi.restoreAllMocks();
  return statements;
}

async function everyCall(): Promise<void> {
  const { phone, token } = await newPerson();
  await botCall('/api/bot/usage', { phone });
  await botCall('/api/bot/entitlements', { phone });
  await botCall('/api/bot/approvals', { phone, status: 'approved' });
  await call('GET', '/api/user/me', { token });
  await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
  const stream = await OpenStream.open(token);
  await call('POST', '/api/user/stream-ticket', { token });
  await call('POST', '/api/billing/create-subscription-update-session', { token });
  await call('POST', '/api/billing/create-portal-session', { token });
  const trial = await botCall('/api/bot/trials', { phone });
  const trialToken = new URL(trial.body.url).searchParams.get('token');
  await call('POST', '/auth/verify-trial-token', { body: { trialToken } });
  await call('POST', '/api/auth/logout', { token: await externalSession(phone) });
  await call('POST', '/api/auth/logout', { token: await externalSession(phone), body: { everywhere: true } });
  stream.close();
  await converse();
  await call('DELETE', '/api/user/me', { token: await externalSession((await newContact()).phone) });
  await runCron();
  await runCron('0 * * * *');
  await call('GET', '/api/health');
}

async function converse(): Promise<void> {
  const { phone, token } = await newWriter();
  const chat = await OpenChat.open(token);
  const { message } = (await write(token, 'Hello')).body;
  await write(token, 'Hello', message.id);
  await reply(phone, 'Hello', 'reply-1', { crisis: true });
  await botCall('/api/bot/typing', { phone });
  await call('DELETE', '/api/user/chat', { token });
  await call('DELETE', '/api/user/chat/consent', { token });
  chat.close();
}

it('finds every row by an index', async () => {
  const statements = [...(await statementsOf(everyCall)).values()].filter(({ sql }) => !/^(begin|commit)/i.test(sql));
  expect(statements.length).toBeGreaterThan(40);
  const scans: string[] = [];
  for (const { sql, args } of statements) {
    const values = args.map(({ type, value }) => (type === 'null' ? null : type === 'float' ? Number(value) : value!));
    const { rows } = await database.execute({ sql: `explain query plan ${sql}`, args: values });
    const plan = rows.map(({ detail }) => detail as string);
    const slow = plan.filter((step) => step.startsWith('SCAN') && !harmless.test(step));
    if (slow.length > 0) scans.push(`${slow.join('; ')} in ${sql}`);
  }
  expect(scans).toEqual([]);
});
