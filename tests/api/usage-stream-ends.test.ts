import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { LiveSocket } from '../../worker/live/live-socket.ts';
import { LiveUser } from '../../worker/live/live-user.ts';
import { botCall, call, sendWith, parallel } from './support/api.ts';
import { second, until } from './support/clock.ts';
import { watchDatabase } from './support/requests.ts';
import { externalSession, newPerson, userOf } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { liveUserOf, OpenStream } from './support/streams.ts';

const openSockets = (token: string) =>
  runInDurableObject(liveUserOf(token), (_channel, state) => state.getWebSockets().length);

/** From now on messages to a channel are lost. */
function loseEnds() {
  return vi.spyOn(LiveUser.prototype, 'endStreams').mockImplementation(() => undefined);
}

describe('a session whose end message is lost', () => {
  const ends: [string, (person: { token: string; phone: string }) => Promise<unknown>][] = [
    ['logging out', ({ token }) => call('POST', '/api/auth/logout', { token })],
    ['logging out everywhere', ({ token }) => call('POST', '/api/auth/logout', { token, body: { everywhere: true } })],
    ['deleting the account', ({ token }) => call('DELETE', '/api/user/me', { token })],
    ['being set back to pending', ({ phone }) => botCall('/api/bot/approvals', { phone, status: 'pending' })],
  ];

  it.each(ends)('closes the streams within 30 seconds after %s', async (_, end) => {
    const person = await newPerson();
    const stream = await OpenStream.opened(person.token);
    const lost = loseEnds();
    await end(person);
    await until('the message that is lost', () => lost.mock.calls.length);
    expect(stream.ended).toBe(false);
    const due = await runInDurableObject(liveUserOf(person.token), (_channel, state) => state.storage.getAlarm());
    expect(due! - Date.now()).toBeLessThan(30 * second);
    expect(await runDurableObjectAlarm(liveUserOf(person.token))).toBe(true);
    await stream.until(({ ended }) => ended);
  });

  it('closes no stream of a session that lives on, with one database request for all of them', async () => {
    const { phone, token } = await newPerson();
    const others = [await externalSession(phone), await externalSession(phone)];
    const streams = [
      await OpenStream.opened(token),
      await OpenStream.opened(token),
      await OpenStream.opened(others[0]!),
    ];
    const leaving = await OpenStream.opened(others[1]!);
    loseEnds();
    await call('POST', '/api/auth/logout', { token: others[1]! });
    const requests = watchDatabase(userOf(token));
    await runDurableObjectAlarm(liveUserOf(token));
    expect(requests).toHaveLength(1);
    await leaving.until(({ ended }) => ended);
    vi.restoreAllMocks();
    await botCall('/api/bot/usage', { phone });
    for (const stream of streams) await stream.until(({ counts }) => counts.at(-1) === 1);
    for (const stream of streams) stream.close();
  });

  it('retries when the database does not respond', async () => {
    const { token } = await newPerson();
    const stream = await OpenStream.opened(token);
    loseEnds();
    await call('POST', '/api/auth/logout', { token });
    await sandbox.faults({ libsql: { drop: true, match: userOf(token) } });
    await runDurableObjectAlarm(liveUserOf(token));
    expect(stream.ended).toBe(false);
    await sandbox.faults({ libsql: null });
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
    await stream.until(({ ended }) => ended);
  });

  it('sets no alarm when no stream is open', async () => {
    const { token } = await newPerson();
    await call('POST', '/api/auth/logout', { token });
    const due = await runInDurableObject(liveUserOf(token), (_channel, state) => state.storage.getAlarm());
    expect(due).toBeNull();
  });
});

describe('the streams of one user', () => {
  it('are at most ten: the oldest ends', async () => {
    const { phone, token } = await newPerson();
    const streams: OpenStream[] = [];
    for (let opened = 0; opened < 12; opened += 1) streams.push(await OpenStream.opened(token));
    for (const oldest of streams.slice(0, 2)) await oldest.until(({ ended }) => ended);
    expect(streams[0]!.events.at(-1)).toMatchObject({ event: 'stream_replaced' });
    await botCall('/api/bot/usage', { phone });
    for (const stream of streams.slice(2)) await stream.until(({ counts }) => counts.at(-1) === 1);
    expect(await openSockets(token)).toBe(10);
    for (const stream of streams) stream.close();
  });

  it('are at most ten for fifty parallel callers', async () => {
    const { phone, token } = await newPerson();
    const streams = await parallel(50, () => OpenStream.open(token));
    const open = () => streams.filter(({ ended, status }) => status === 200 && !ended);
    await until(
      'at most ten streams',
      () => open().length,
      (length) => length <= 10,
    );
    await botCall('/api/bot/usage', { phone });
    for (const stream of open()) await stream.until(({ counts }) => counts.at(-1) === 1);
    expect(open()).toHaveLength(10);
    expect(await openSockets(token)).toBe(10);
    for (const stream of streams) stream.close();
  });

  it('are not ended by somebody whose session has ended', async () => {
    const { phone, token } = await newPerson();
    const ended = await externalSession(phone);
    await call('POST', '/api/auth/logout', { token: ended });
    const stream = await OpenStream.opened(token);
    await parallel(12, () => OpenStream.open(ended));
    await botCall('/api/bot/usage', { phone });
    await stream.until(({ counts }) => counts.at(-1) === 1);
    stream.close();
  });
});

describe('a channel', () => {
  it('that cannot be joined is 503', async () => {
    const { token } = await newPerson();
    const broken = { getByName: () => ({ fetch: () => Promise.reject(new Error('object moved')) }) };
    const request = new Request(`http://solace.test/api/user/usage-stream?token=${token}`);
    const response = await sendWith({ LIVE_USER: broken as never }, request);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ success: false, code: 'unavailable' });
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it('that sends no pong ends the stream', async () => {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    theirs.accept();
    vi.useFakeTimers();
    const socket = new LiveSocket(ours, { userId: 'one', sessionId: 'one' });
    let ended = 0;
    socket.listen({ receive: () => undefined, ended: () => (ended += 1) });
    socket.ping();
    await vi.advanceTimersByTimeAsync(4 * second);
    expect(ended).toBe(0);
    await vi.advanceTimersByTimeAsync(2 * second);
    expect(ended).toBe(1);
    vi.useRealTimers();
  });
});
