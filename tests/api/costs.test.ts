import { expect, it } from 'vitest';
import { botCall, call, runCron } from './support/api.ts';
import { buy, startTrial } from './support/buying.ts';
import { consent, newWriter, reply, untilDelivered, write } from './support/chat.ts';
import { eventually } from './support/clock.ts';
import { database, newestCode } from './support/sandbox.ts';
import { costOf, watchDatabase } from './support/requests.ts';
import {
  externalSession,
  getMe,
  logOut,
  newContact,
  newPerson,
  requestOtp,
  userOf,
  verifyOtp,
} from './support/person.ts';
import { OpenChat, OpenStream } from './support/streams.ts';

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
    ['choice', () => call('PUT', '/api/user/platform', { token, body: { platform: 'whatsapp' } }), 0],
    ['ticket', () => call('POST', '/api/user/stream-ticket', { token }), 0],
    ['stream', () => OpenStream.open(token), 0],
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
    // The session is found before anything is written.
    ['logout', () => logOut(token), 0, 2],
  ];
  const requests = watchDatabase(phone, userOf(token));
  for (const [name, each, behind, cost = 1] of calls) {
    requests.length = 0;
    const result = await each();
    expect({ status: result.status, cost: costOf(result) }, name).toEqual({ status: 200, cost });
    await untilDelivered(phone);
    await eventually(() => expect(requests, name).toHaveLength(cost + behind));
  }
});

/** Allowed scans: constant rows, a subquery's one row, and partial indexes of due rows. */
const harmless = /^SCAN ((\d+ )?CONSTANT ROWS?|\(subquery-\d+\)|customers USING INDEX customers_due)$/;

async function everyCall(): Promise<void> {
  const { phone, token } = await newPerson();
  await botCall('/api/bot/usage', { phone });
  await botCall('/api/bot/entitlements', { phone });
  await botCall('/api/bot/approvals', { phone, status: 'approved' });
  await call('GET', '/api/user/me', { token });
  await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } });
  await OpenStream.open(token);
  await call('POST', '/api/user/stream-ticket', { token });
  await buy(token);
  await call('POST', '/api/billing/create-portal-session', { token });
  await startTrial(phone, 'premium', 3);
  for (const everywhere of [false, true]) await logOut(await externalSession(phone), everywhere);
  const writer = await newWriter();
  await OpenChat.open(writer.token);
  const { message } = (await write(writer.token, 'Hello')).body;
  await write(writer.token, 'Hello', message.id);
  await reply(writer.phone, 'Hello', 'reply-1', { crisis: true });
  await botCall('/api/bot/typing', { phone: writer.phone });
  await call('DELETE', '/api/user/chat', { token: writer.token });
  await call('DELETE', '/api/user/chat/consent', { token: writer.token });
  await call('DELETE', '/api/user/me', { token: await externalSession((await newContact()).phone) });
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
