import { describe, expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { advanceClock, minute, second } from './support/clock.ts';
import { database } from './support/database.ts';
import { parallel } from './support/parallel.ts';
import { externalSession, newPerson } from './support/person.ts';
import { costOf } from './support/sandbox.ts';
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
    const { token } = await newPerson();
    const [signedIn] = (await list(token)) as [Listed];
    advanceClock(59 * minute);
    expect((await costOf(() => call('GET', '/api/user/me', { token }))).stats.libsql).toBe(1);
    expect((await list(token))[0]).toEqual(signedIn);
    advanceClock(2 * minute);
    await call('GET', '/api/user/me', { token });
    await scheduler.wait(100);
    const [seen] = (await list(token)) as [Listed];
    expect(seen.createdAt).toBe(signedIn.createdAt);
    expect(Date.parse(seen.lastSeenAt) - Date.parse(signedIn.lastSeenAt)).toBeGreaterThan(60 * minute);
    expect((await costOf(() => call('GET', '/api/user/me', { token }))).stats.libsql).toBe(1);
  });

  it('is written once for fifty parallel callers', async () => {
    const { token } = await newPerson();
    advanceClock(61 * minute);
    await parallel(50, () => call('GET', '/api/user/me', { token }));
    await scheduler.wait(200);
    expect((await costOf(() => call('GET', '/api/user/me', { token }))).stats.libsql).toBe(1);
  });
});
