import { describe, expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { buy, complete } from './support/buying.ts';
import { consent, newWriter, write } from './support/chat.ts';
import { externalSession, newPerson, receiveCode } from './support/person.ts';
import { fetchRecording, recordingOf, sendRecording } from './support/recordings.ts';
import { OpenStream } from './support/streams.ts';
import { newSubscriber } from './support/buying.ts';

/** The session of a trial link that somebody else opened, and the owner's. */
async function forwarded(person: { phone: string }): Promise<string> {
  const { body } = await botCall('/api/bot/trials', { phone: person.phone });
  const trialToken = new URL(body.url).searchParams.get('token');
  return (await call('POST', '/auth/verify-trial-token', { body: { trialToken } })).body.token;
}

const signInNeeded = {
  status: 403,
  body: { success: false, code: 'sign_in_needed', message: 'Please sign in with a code to see this.' },
};

describe('the session of a trial link', () => {
  it('sees, writes and ends nothing that is private', async () => {
    const owner = await newWriter();
    await write(owner.token, 'Something private');
    const token = await forwarded(owner);
    const calls: [method: string, path: string, body?: object][] = [
      ['GET', '/api/user/chat'],
      ['POST', '/api/user/chat/messages', { id: crypto.randomUUID(), text: 'Hello' }],
      ['PUT', '/api/user/chat/consent', { version: 'another' }],
      ['DELETE', '/api/user/chat/consent'],
      ['DELETE', '/api/user/chat'],
      ['GET', `/api/user/chat-stream?token=${encodeURIComponent(token)}`],
      ['GET', '/api/user/export'],
      ['GET', '/api/user/sessions'],
      ['DELETE', '/api/user/sessions/unknown'],
      ['DELETE', '/api/user/me'],
      ['POST', '/api/billing/create-portal-session'],
    ];
    for (const [method, path, body] of calls)
      expect(await call(method, path, { token, body }), `${method} ${path}`).toMatchObject(signInNeeded);
    expect(await call('POST', '/api/auth/logout', { token, body: { everywhere: true } })).toMatchObject(signInNeeded);
    const recordings = [await sendRecording(token, recordingOf('audio/webm')), await fetchRecording(token, 'any')];
    for (const { status } of recordings) expect(status).toBe(403);
    const { body } = await call('GET', '/api/user/chat', { token: owner.token });
    expect([body.messages.length, body.consent.version]).toEqual([1, expect.not.stringContaining('another')]);
    expect((await call('GET', '/api/user/sessions', { token: owner.token })).body.sessions).toHaveLength(2);
  });

  it('does what a trial needs: profile, count, platform, plans, logout', async () => {
    const token = await forwarded(await newPerson());
    expect((await call('GET', '/api/user/me', { token })).body.profile).toMatchObject({ isTrial: true });
    const stream = await OpenStream.opened(token);
    stream.close();
    expect((await call('POST', '/api/user/stream-ticket', { token })).status).toBe(200);
    expect((await call('PUT', '/api/user/platform', { token, body: { platform: 'web' } })).status).toBe(200);
    await complete((await buy(token, 'basic')).body.portalUrl);
    // The portal of the plan that waits for the end of the trial.
    expect((await buy(token)).status).toBe(200);
    expect((await call('POST', '/api/auth/logout', { token })).status).toBe(200);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
  });

  it('does not change a plan that somebody pays for', async () => {
    const owner = await newSubscriber('basic');
    const token = await forwarded(owner);
    expect(await buy(token)).toMatchObject(signInNeeded);
    expect(await buy(token, 'platinum')).toMatchObject(signInNeeded);
    expect((await buy(owner.token)).status).toBe(200);
  });

  it('is replaced by that of a code or an external token, which may do everything', async () => {
    const owner = await newPerson();
    const limited = await forwarded(owner);
    await botCall('/api/bot/contacts', { phone: owner.phone });
    const body = { phone: owner.phone, otp: await receiveCode(owner) };
    const { token } = (await call('POST', '/api/auth/verify-otp', { body })).body;
    for (const full of [token, await externalSession(owner.phone)]) {
      expect((await call('GET', '/api/user/sessions', { token: full })).status).toBe(200);
      expect((await consent(full)).status).toBe(200);
    }
    expect(await call('GET', '/api/user/export', { token: limited })).toMatchObject(signInNeeded);
  });
});
