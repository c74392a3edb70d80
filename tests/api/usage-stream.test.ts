import { env } from 'cloudflare:workers';
import type { Env } from '../../worker/env.ts';
import { evictDurableObject, listDurableObjectIds, runInDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import type { Profile } from '../../worker/contract/schemas.ts';
import { LiveSocket } from '../../worker/live/live-socket.ts';
import { LiveUser } from '../../worker/live/live-user.ts';
import { liveStream } from '../../worker/live/live-stream.ts';
import { botCall, call, parallel, sendWith } from './support/api.ts';
import { advanceClock, second, until } from './support/clock.ts';
import { watchDatabase } from './support/requests.ts';
import { externalSession, newPerson, userOf } from './support/person.ts';
import { liveUserOf, OpenStream } from './support/streams.ts';
import { sandbox } from './support/sandbox.ts';

const post = (phone: string, count = 1) => botCall('/api/bot/usage', { phone, count });
const ticketOf = async (token: string) =>
  (await call('POST', '/api/user/stream-ticket', { token })).body.ticket as string;

describe('the usage stream', () => {
  it('sends connection_established, then the current count, then each change', async () => {
    const { phone, token } = await newPerson();
    await post(phone, 2);
    const stream = await OpenStream.open(await ticketOf(token));
    await stream.until(({ counts }) => counts.length === 1);
    const { profile } = (await call('GET', '/api/user/me', { token })).body;
    expect(stream.events[0]).toMatchObject({ event: 'connection_established' });
    expect(JSON.parse(stream.events[0]?.data ?? '')).toEqual({ type: 'connection_established', profile });
    expect(stream.counts).toEqual([2]);
    await post(phone);
    await stream.until(({ counts }) => counts.at(-1) === 3);
    stream.close();
  });

  it('reaches every tab, and takes a session token as well as a ticket', async () => {
    const { phone, token } = await newPerson();
    const tabs = [await OpenStream.open(token), await OpenStream.open(await ticketOf(token))];
    await post(phone);
    for (const tab of tabs) await tab.until(({ counts }) => counts.at(-1) === 1);
    for (const tab of tabs) tab.close();
  });

  it('never goes back under parallel posts and ends at the total', async () => {
    const { phone, token } = await newPerson();
    const stream = await OpenStream.open(token);
    await parallel(50, () => post(phone));
    await stream.until(({ counts }) => counts.at(-1) === 5);
    expect(stream.counts).toEqual(stream.counts.toSorted((a, b) => a - b));
    stream.close();
  });

  it('ends with its session, and with all sessions', async () => {
    const { token } = await newPerson();
    const stream = await OpenStream.open(token);
    await stream.until(({ counts }) => counts.length === 1);
    expect((await call('POST', '/api/auth/logout', { token })).body).toEqual({ success: true });
    await stream.until(({ ended }) => ended);
    expect((await OpenStream.open(token)).status).toBe(401);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
  });

  it('stays open when another session of the user ends, and ends when all do', async () => {
    const { phone, token } = await newPerson();
    const others = [await externalSession(phone), await externalSession(phone)];
    const stream = await OpenStream.open(token);
    await stream.until(({ counts }) => counts.length === 1);
    await call('POST', '/api/auth/logout', { token: others[0] });
    await post(phone);
    await stream.until(({ counts }) => counts.at(-1) === 1);
    expect(stream.ended).toBe(false);
    await call('POST', '/api/auth/logout', { token: others[1], body: { everywhere: true } });
    await stream.until(({ ended }) => ended);
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
  });

  it('refuses without a token, with a forged one, and with a ticket of an ended session', async () => {
    const { token } = await newPerson();
    const ticket = await ticketOf(token);
    await call('POST', '/api/auth/logout', { token });
    const answers = [
      await call('GET', '/api/user/usage-stream'),
      await call('GET', '/api/user/usage-stream?token=a.b.c'),
      await call('GET', `/api/user/usage-stream?token=${ticket}`),
    ];
    for (const { status, body } of answers)
      expect({ status, success: body.success }).toEqual({ status: 401, success: false });
  });

  it('does not let a ticket do anything else', async () => {
    const { token } = await newPerson();
    expect((await call('GET', '/api/user/me', { token: await ticketOf(token) })).status).toBe(401);
  });
});

type Marked = LiveUser & { mark?: string };

it('makes no Durable Object request for a usage post while no stream is open', async () => {
  const { phone, token } = await newPerson();
  // With settings a call returns when its background work has ended.
  await botCall('/api/bot/usage', { phone }, undefined, {});
  const known = async () =>
    (await listDurableObjectIds((env as unknown as Env).LIVE_USER)).some((id) => id.equals(liveUserOf(token).id));
  expect(await known()).toBe(false);
  const stream = await OpenStream.open(token);
  await stream.until(({ counts }) => counts.at(-1) === 1);
  expect(await known()).toBe(true);
  stream.close();
});

it('lets its Durable Object hibernate while it is idle, and still gets the next message', async () => {
  const { phone, token } = await newPerson();
  const stream = await OpenStream.open(token);
  await botCall('/api/bot/usage', { phone });
  await stream.until(({ counts }) => counts.at(-1) === 1);
  await runInDurableObject(liveUserOf(token), (channel: Marked) => {
    channel.mark = 'the same instance';
  });
  // Sockets that cannot hibernate would be closed.
  await evictDurableObject(liveUserOf(token));
  await botCall('/api/bot/usage', { phone });
  await stream.until(({ counts }) => counts.at(-1) === 2);
  const mark = await runInDurableObject(liveUserOf(token), (channel: Marked) => channel.mark);
  expect(mark).toBeUndefined();
  stream.close();
});

it('frees Worker and object when the reader disappears', async () => {
  const { token } = await newPerson();
  const streams = [await OpenStream.open(token), await OpenStream.open(token)];
  for (const stream of streams) await stream.until(({ counts }) => counts.length === 1);
  const sockets = () => runInDurableObject(liveUserOf(token), (_channel, state) => state.getWebSockets().length);
  expect(await sockets()).toBe(2);
  for (const stream of streams) stream.close();
  await until('no open socket', sockets, (open) => open === 0);
});

it('shows 0 when the week ends while it is open, without any request', async () => {
  const { phone, token } = await newPerson();
  const { body } = await botCall('/api/bot/usage', { phone, count: 5 });
  advanceClock(Date.parse(body.resetsAt) - Date.now() - second);
  const stream = await OpenStream.open(token);
  await stream.until(({ counts }) => counts.at(-1) === 5);
  const requests = watchDatabase(phone, userOf(token));
  advanceClock(2 * second);
  await stream.until(({ counts }) => counts.at(-1) === 0);
  expect(requests).toEqual([]);
  advanceClock(300 * second);
  await botCall('/api/bot/usage', { phone });
  await stream.until(({ counts }) => counts.at(-1) === 1);
  expect(stream.counts).toEqual([5, 0, 1]);
  stream.close();
  expect((await call('GET', '/api/user/me', { token })).body.profile.messagesUsedThisPeriod).toBe(1);
});

const profile: Profile = {
  phoneNumber: '+15551234567',
  status: 'approved',
  isTrial: false,
  messagesUsedThisPeriod: 3,
  metadata: {
    subscriptionTier: 'free',
    messagesUsedThisPeriod: 3,
    subscriptionStatus: 'active',
    renewalDate: null,
    cancelAtDate: null,
    scheduledDowngradeTierId: null,
  },
};
const textDecoder = new TextDecoder();

/** Opens a stream that nothing is published to; returns the times (unix ms) of its heartbeats. */
function openIdle(): number[] {
  const beats: number[] = [];
  const socket = { listen: () => undefined, ping: () => undefined, close: () => undefined } as unknown as LiveSocket;
  const total = { seq: 1, used: 3, resetsAt: null };
  const { body } = liveStream({
    socket,
    expiresAt: Infinity,
    profile,
    total,
    signal: new AbortController().signal,
  });
  void body!.pipeTo(
    new WritableStream({
      write: (chunk) => {
        if (textDecoder.decode(chunk).startsWith(':')) beats.push(Date.now());
      },
    }),
  );
  return beats;
}

it('a stream that waits writes at least every 20 seconds', async () => {
  vi.useFakeTimers();
  const opened = Date.now();
  const beats = openIdle();
  await vi.advanceTimersByTimeAsync(120 * second);
  const gaps = beats.map((at, index) => at - (beats[index - 1] ?? opened));
  expect(beats.length).toBeGreaterThanOrEqual(6);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(20 * second);
});

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
