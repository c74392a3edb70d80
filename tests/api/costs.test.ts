import { expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { consent, write } from './support/chat.ts';
import { newContact, newPerson, receiveCode } from './support/person.ts';
import { costOf } from './support/sandbox.ts';
import { OpenStream } from './support/stream.ts';

it('makes one database request for each frequent call', async () => {
  const contact = await newContact();
  const { phone, address } = contact;
  const request = () => call('POST', '/api/auth/request-otp', { body: { phone }, address });
  expect((await costOf(request)).stats).toMatchObject({ libsql: 1, whatsapp: 1 });
  expect((await costOf(request)).stats).toMatchObject({ libsql: 1, whatsapp: 0 });

  const other = await newContact();
  const otp = await receiveCode(other);
  const verify = () =>
    call('POST', '/api/auth/verify-otp', { body: { phone: other.phone, otp }, address: other.address });
  const signIn = await costOf(verify);
  expect(signIn.stats).toMatchObject({ libsql: 1 });
  const { token } = signIn.result.body;
  expect((await costOf(verify)).stats).toMatchObject({ libsql: 1 });

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
    const { result, stats } = await costOf(each);
    expect({ status: result.status, libsql: stats.libsql }).toEqual({ status: 200, libsql: 1 });
  }
});

it('makes one database request to open a stream, and none while it is idle', async () => {
  const { phone, token } = await newPerson();
  const { result: stream, stats } = await costOf(() => OpenStream.open(token));
  expect(stats.libsql).toBe(1);
  const posted = await costOf(async () => {
    await botCall('/api/bot/usage', { phone });
    await stream.until(({ counts }) => counts.at(-1) === 1);
  });
  expect(posted.stats.libsql).toBe(1);
  stream.close();
});

it('makes one database request for each chat call, and one more after a message', async () => {
  const { phone, token } = await newPerson();
  const calls = [
    () => consent(token),
    () => call('GET', '/api/user/chat', { token }),
    () => write(token, 'Hello'),
    () => botCall('/api/bot/typing', { phone }),
    () => botCall('/api/bot/messages', { phone, id: 'reply-1', text: 'I hear you.' }),
    () => call('DELETE', '/api/user/chat', { token }),
    () => call('DELETE', '/api/user/chat/consent', { token }),
  ];
  const stats: number[] = [];
  for (const each of calls) {
    const cost = await costOf(async () => {
      const { status } = await each();
      expect(status).toBe(200);
      await scheduler.wait(600);
    });
    stats.push(cost.stats.libsql!);
  }
  // Beyond the one request: an event is leased, then removed; the event of a message is leased by the request itself;
  // clearing is confirmed, and withdrawing the consent has two events.
  expect(stats).toEqual([3, 1, 2, 1, 1, 4, 5]);
});
