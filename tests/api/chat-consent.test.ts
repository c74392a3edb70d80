import { describe, expect, it, vi } from 'vitest';
import { botCall, call } from './support/api.ts';
import { consent, newWriter, readChat, untilReplied, write } from './support/chat.ts';
import { externalSession, newPerson, newPhone } from './support/person.ts';
import { eventsAbout } from './support/sandbox.ts';

describe('consent', () => {
  it('comes before the first message, is versioned, and is reported to the bot', async () => {
    const { phone, token } = await newPerson();
    expect((await readChat(token)).consent).toBeNull();
    const refused = await write(token, 'Hello');
    expect({ status: refused.status, body: refused.body }).toEqual({
      status: 403,
      body: { success: false, code: 'consent_needed', message: 'Please accept the notice before you write.' },
    });
    const given = await consent(token, 'v1');
    expect(given.body).toEqual({ success: true, consent: { version: 'v1', at: expect.any(String) } });
    expect((await consent(token, 'v1')).body).toEqual(given.body);
    expect((await readChat(token)).consent).toEqual(given.body.consent);
    expect((await write(token, 'Hello')).status).toBe(200);
    await vi.waitFor(async () =>
      expect((await eventsAbout(phone, 'chat.consent')).map(({ data }) => data.version)).toEqual(['v1']),
    );
  });

  it('is the first contact of a user with an external token', async () => {
    const phone = newPhone();
    const token = await externalSession(phone);
    expect((await botCall('/api/bot/usage', { phone })).body.allowed).toBe(false);
    await consent(token);
    expect((await write(token, 'Hello')).status).toBe(200);
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: true, used: 1 });
  });

  it('removes the conversation when it is withdrawn', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    await write(token, 'Hello');
    await untilReplied(person, 1);
    const { status, body } = await call('DELETE', '/api/user/chat/consent', { token });
    expect({ status, body }).toEqual({ status: 200, body: { success: true, consent: null } });
    expect(await readChat(token)).toMatchObject({ messages: [], consent: null });
    expect((await write(token, 'Hello')).body.code).toBe('consent_needed');
    await vi.waitFor(async () =>
      expect((await eventsAbout(phone, 'chat.consent')).map(({ data }) => data.version)).toEqual(['2026-11', null]),
    );
    expect(await eventsAbout(phone, 'chat.cleared')).toHaveLength(1);
    expect((await call('DELETE', '/api/user/chat/consent', { token })).body).toEqual({ success: true, consent: null });
  });
});
