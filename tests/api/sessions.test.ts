import { describe, expect, it } from 'vitest';
import { botCall, call, parallel } from './support/api.ts';
import { advanceClock, minute, second, until } from './support/clock.ts';
import { database } from './support/database.ts';
import { holdRequests } from './support/requests.ts';
import { costOf } from './support/log.ts';
import { externalSession, newPerson, userOf, receiveCode } from './support/person.ts';
import { OpenStream } from './support/streams.ts';
import { buy, complete, newSubscriber } from './support/buying.ts';
import { consent, newWriter, write, fetchRecording, recordingOf, sendRecording } from './support/chat.ts';

type Listed = { id: string; createdAt: string; lastSeenAt: string; current: boolean };

const list = async (token: string): Promise<Listed[]> =>
  (await call('GET', '/api/user/sessions', { token })).body.sessions;
const end = (token: string, id: string) => call('DELETE', `/api/user/sessions/${id}`, { token });

describe('the sessions of a user', () => {
  it('are listed newest first, the present one marked, and nobody else’s among them', async () => {
    const { phone, token } = await newPerson();
    await newPerson();
    advanceClock(second);
    const later = await externalSession(phone);
    const sessions = await list(token);
    expect(sessions.map(({ current }) => current)).toEqual([false, true]);
    expect(sessions[0]!.createdAt > sessions[1]!.createdAt).toBe(true);
    expect((await list(later)).map(({ current }) => current)).toEqual([true, false]);
    for (const session of sessions) {
      expect(Object.keys(session).toSorted()).toEqual(['createdAt', 'current', 'id', 'lastSeenAt']);
    }
  });

  it('leave out those that have expired', async () => {
    const { phone, token } = await newPerson();
    const sql = 'update sessions set expires_at = ? where user_id = (select id from users where phone = ?)';
    await database.execute({ sql, args: [Date.now() - second, phone] });
    const later = await externalSession(phone);
    expect(await list(later)).toHaveLength(1);
    expect((await call('GET', '/api/user/sessions', { token })).status).toBe(401);
  });
});

describe('ending one session', () => {
  it('ends that session and its streams, and no other', async () => {
    const { phone, token } = await newPerson();
    const other = await externalSession(phone);
    const [mine, theirs] = [await OpenStream.open(token), await OpenStream.open(other)];
    await theirs.until(({ counts }) => counts.length === 1);
    const { id } = (await list(token)).find(({ current }) => !current)!;
    expect(await end(token, id)).toMatchObject({ status: 200, body: { success: true } });
    await theirs.until(({ ended }) => ended);
    expect((await call('GET', '/api/user/me', { token: other })).status).toBe(401);
    await botCall('/api/bot/usage', { phone });
    await mine.until(({ counts }) => counts.at(-1) === 1);
    mine.close();
  });

  it('may end the present one', async () => {
    const { token } = await newPerson();
    const [{ id }] = (await list(token)) as [Listed];
    expect((await end(token, id)).status).toBe(200);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
  });

  it('is 404 for another user’s session, an ended one and an unknown one', async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    const [{ id }] = (await list(other.token)) as [Listed];
    const gone = await externalSession(one.phone);
    const ended = (await list(gone)).find(({ current }) => current)!.id;
    await call('POST', '/api/auth/logout', { token: gone });
    for (const wrong of [id, ended, 'unknown', '%27%20or%201=1--']) {
      expect(await end(one.token, wrong)).toMatchObject({ status: 404, body: { success: false, code: 'not_found' } });
    }
    expect((await call('GET', '/api/user/me', { token: other.token })).status).toBe(200);
  });

  it('succeeds once for fifty parallel callers', async () => {
    const { phone, token } = await newPerson();
    await externalSession(phone);
    const { id } = (await list(token)).find(({ current }) => !current)!;
    const statuses = (await parallel(50, () => end(token, id))).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 404)).toHaveLength(49);
  });
});

describe('lastSeenAt', () => {
  it('is written at most once an hour, after the response', async () => {
    advanceClock(0);
    const { token } = await newPerson();
    const [signedIn] = (await list(token)) as [Listed];
    const { arrived, release } = holdRequests('update \\"sessions\\"', userOf(token));
    const me = () => call('GET', '/api/user/me', { token });
    advanceClock(59 * minute);
    expect(costOf(await me())).toBe(1);
    advanceClock(2 * minute);
    expect((await me()).status).toBe(200);
    await arrived();
    expect((await list(token))[0]).toEqual(signedIn);
    release();
    const seen = await until(
      'a later lastSeenAt',
      async () => (await list(token))[0]!,
      ({ lastSeenAt }) => lastSeenAt !== signedIn.lastSeenAt,
    );
    // A write after 59 minutes would have left another time.
    expect(seen).toEqual({ ...signedIn, lastSeenAt: new Date().toISOString() });
    expect(costOf(await me())).toBe(1);
  });
});

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
