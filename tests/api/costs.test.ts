import { expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { outboxOf } from './support/chat-delivery.ts';
import { consent, write } from './support/chat.ts';
import { watchDatabase } from './support/database-requests.ts';
import { costOf } from './support/log.ts';
import { newContact, newPerson, receiveCode, userOf } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { OpenStream } from './support/stream.ts';
import { until } from './support/until.ts';

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
    () => call('POST', '/api/auth/logout', { token }),
  ];
  for (const each of calls) {
    const result = await each();
    expect({ status: result.status, cost: costOf(result) }, String(each)).toEqual({ status: 200, cost: 1 });
  }
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
  const calls: [name: string, call: () => ReturnType<typeof call>, behind: number][] = [
    // An event is leased, then removed.
    ['consent', () => consent(token), 2],
    ['reading', () => call('GET', '/api/user/chat', { token }), 0],
    // The event of a message is leased by the request itself.
    ['writing', () => write(token, 'Hello'), 1],
    ['typing', () => botCall('/api/bot/typing', { phone }), 0],
    ['replying', () => botCall('/api/bot/messages', { phone, id: 'reply-1', text: 'I hear you.' }), 0],
    // Clearing is confirmed.
    ['clearing', () => call('DELETE', '/api/user/chat', { token }), 3],
    // It has two events.
    ['withdrawing', () => call('DELETE', '/api/user/chat/consent', { token }), 4],
  ];
  const requests = watchDatabase(phone, userOf(token));
  for (const [name, each, behind] of calls) {
    requests.length = 0;
    const result = await each();
    expect({ status: result.status, cost: costOf(result) }, name).toEqual({ status: 200, cost: 1 });
    await until(
      `the events of ${name}`,
      () => outboxOf(phone),
      (events) => events.length === 0,
    );
    await until(
      `the requests of ${name}`,
      () => requests,
      () => requests.length > behind,
    );
    expect(requests, name).toHaveLength(1 + behind);
  }
});
