import { describe, expect, it } from 'vitest';
import { botCall, call, parallel } from './support/api.ts';
import { advanceClock, minute, second, until } from './support/clock.ts';
import { database } from './support/database.ts';
import { holdRequests } from './support/requests.ts';
import { costOf } from './support/log.ts';
import { externalSession, newPerson, userOf } from './support/person.ts';
import { OpenStream } from './support/streams.ts';

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
