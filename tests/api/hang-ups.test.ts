import { describe, expect, it } from 'vitest';
import { botCall, call, send } from './support/api.ts';
import { newContact, newPerson, receiveCode, type Person } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

const databaseMs = 400;

/** Sends a call and disconnects while the database is working. */
async function hangUp(method: string, path: string, token: string | null, body?: object): Promise<void> {
  await sandbox.faults({ libsql: { delayMs: databaseMs } });
  const abort = new AbortController();
  const headers = {
    'cf-connecting-ip': '192.0.2.77',
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
  };
  const init = { method, headers, signal: abort.signal, ...(body && { body: JSON.stringify(body) }) };
  const response = send(path, init).catch(() => null);
  await scheduler.wait(databaseMs / 4);
  abort.abort();
  await response;
  await sandbox.faults({ libsql: null });
  await scheduler.wait(databaseMs * 3);
}

describe('a caller who disconnects', () => {
  it('is logged out all the same', async () => {
    const { token } = await newPerson();
    await hangUp('POST', '/api/auth/logout', token);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
  });

  it('ends the other session all the same', async () => {
    const { token } = await newPerson();
    const { sessions } = (await call('GET', '/api/user/sessions', { token })).body;
    await hangUp('DELETE', `/api/user/sessions/${sessions[0].id}`, token);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
  });

  it('is deleted all the same, and the bot is told', async () => {
    const { phone, token } = await newPerson();
    await hangUp('DELETE', '/api/user/me', token);
    await scheduler.wait(1500);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
    const events = (await sandbox.botEvents()).filter(({ data }) => data.phone === phone);
    expect(events.map(({ type }) => type)).toEqual(['user.deleted']);
  });

  it('has chosen the platform, and the bot is told', async () => {
    const { phone, token }: Person = await newPerson();
    await hangUp('PUT', '/api/user/platform', token, { platform: 'web' });
    await scheduler.wait(1000);
    expect((await call('GET', '/api/user/platform', { token })).body.platform).toBe('web');
    const events = (await sandbox.botEvents()).filter(({ data }) => data.phone === phone);
    expect(events.map(({ type }) => type)).toEqual(['platform.changed']);
  });

  it('is sent the code that was made', async () => {
    const { phone } = await newContact();
    await hangUp('POST', '/api/auth/request-otp', null, { phone });
    expect(await sandbox.messages(phone)).toHaveLength(1);
  });

  it('has used the code up', async () => {
    const contact = await newContact();
    const otp = await receiveCode(contact);
    await hangUp('POST', '/api/auth/verify-otp', null, { phone: contact.phone, otp });
    const again = await call('POST', '/api/auth/verify-otp', { body: { phone: contact.phone, otp } });
    expect(again.body.code).toBe('invalid_code');
    await botCall('/api/bot/contacts', { phone: contact.phone });
  });
});
