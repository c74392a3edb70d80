import {
  evictDurableObject,
  listDurableObjectIds,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import type { Profile } from '../../worker/contract/schemas.ts';
import type { Env } from '../../worker/env.ts';
import { LiveSocket } from '../../worker/live/live-socket.ts';
import { liveStream } from '../../worker/live/live-stream.ts';
import { LiveUser } from '../../worker/live/live-user.ts';
import { botCall, call, parallel, send, tally } from './support/api.ts';
import { newSubscriber, subscribe } from './support/buying.ts';
import { consent, newWriter, write } from './support/chat.ts';
import { advanceClock, day, minute, second, until } from './support/clock.ts';
import { newContact, newPhone, post, usageOf } from './support/contacts.ts';
import {
  deleteAccount,
  externalSession,
  getMe,
  logOut,
  newPerson,
  type Person,
  userOf,
} from './support/person.ts';
import { expectUnavailable, startHeld, watchDatabase } from './support/requests.ts';
import { during, run } from './support/sandbox.ts';
import { liveUserOf, OpenChat, openSockets, OpenStream, ticketOf } from './support/streams.ts';

const postUsage = (body: object, id?: string) => botCall('/api/bot/usage', body, id);

describe('the count of the week', () => {
  it('counts a message of a number that has written, and shows the count in the profile', async () => {
    const { phone, token } = await newPerson();
    const count = {
      allowed: true,
      used: 1,
      limit: 5,
      remaining: 4,
      voice: false,
      tier: 'free',
    };
    const resetsAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { status, body } = await postUsage({ phone });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        ...count,
        resetsAt,
      },
    });
    expect(await usageOf(phone)).toMatchObject(count);
    const { profile } = (await getMe(token)).body;
    expect(profile.messagesUsedThisPeriod).toBe(1);
    const dates = {
      renewalDate: null,
      cancelAtDate: null,
      scheduledDowngradeTierId: null,
    };
    const plan = {
      subscriptionTier: 'free',
      subscriptionStatus: 'active',
      messagesUsedThisPeriod: 1,
    };
    expect(profile.metadata).toEqual({
      ...plan,
      ...dates,
      resetsAt: body.resetsAt,
    });
  });

  it('does not count what would pass the limit', async () => {
    const { phone } = await newContact();
    await postUsage({ phone, count: 3 });
    expect((await postUsage({ phone, count: 3 })).body).toMatchObject({
      allowed: false,
      used: 3,
      remaining: 2,
    });
    const answers = await parallel(50, () => postUsage({ phone }));
    expect(answers.filter(({ body }) => body.allowed)).toHaveLength(2);
    expect((await postUsage({ phone })).body).toMatchObject({
      allowed: false,
      used: 5,
      remaining: 0,
    });
    expect(await usageOf(phone)).toMatchObject({
      allowed: false,
      used: 5,
    });
  });

  it('refuses voice where the plan has none', async () => {
    const { phone } = await newContact();
    expect(
      (
        await postUsage({
          phone,
          kind: 'voice',
        })
      ).body,
    ).toMatchObject({
      allowed: false,
      used: 0,
      voice: false,
    });
  });

  it('counts the same webhook-id once with the same response, and refuses it with another body or path', async () => {
    const { phone } = await newContact();
    const id = crypto.randomUUID();
    const answers = await parallel(50, () => postUsage({ phone, count: 2 }, id));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    await postUsage({ phone });
    expect((await postUsage({ phone, count: 2 }, id)).text).toBe(answers[0]!.text);
    const message = 'Event id already used with a different body or path';
    const reused = {
      status: 409,
      body: {
        success: false,
        code: 'id_reused',
        message,
      },
    };
    expect(await postUsage({ phone }, id)).toMatchObject(reused);
    expect(await botCall('/api/bot/entitlements', { phone }, id)).toMatchObject(reused);
    expect(await usageOf(phone)).toMatchObject({ used: 3 });
  });

  it('is counted from the first contact and starts at 0 again, also when nothing ran at midnight', async () => {
    const { phone, token } = await newPerson();
    const first = (await postUsage({ phone, count: 5 })).body;
    advanceClock(Date.parse(first.resetsAt) - Date.now() - second);
    expect(await usageOf(phone)).toMatchObject({
      used: 5,
      resetsAt: first.resetsAt,
    });
    advanceClock(second);
    const next = new Date(Date.parse(first.resetsAt) + 7 * day).toISOString();
    expect(await usageOf(phone)).toMatchObject({
      used: 0,
      allowed: true,
      resetsAt: next,
    });
    expect((await getMe(token)).body.profile.messagesUsedThisPeriod).toBe(0);
    expect((await postUsage({ phone })).body).toMatchObject({
      used: 1,
      resetsAt: next,
    });
  });

  it('counts a post of the old week in the new one if that one has begun by the clock of another call', async () => {
    advanceClock(0);
    const { phone } = await newContact();
    await postUsage({ phone, count: 5 });
    advanceClock(7 * day);
    expect(
      (
        await postUsage({
          phone,
          count: 2,
        })
      ).body,
    ).toMatchObject({
      allowed: true,
      used: 2,
    });
    advanceClock(-10 * second);
    expect(
      (
        await postUsage({
          phone,
          count: 2,
        })
      ).body,
    ).toMatchObject({
      allowed: true,
      used: 4,
    });
    expect(
      (
        await postUsage({
          phone,
          count: 2,
        })
      ).body,
    ).toMatchObject({
      allowed: false,
      used: 4,
    });
    advanceClock(10 * second);
    expect(await usageOf(phone)).toMatchObject({ used: 4 });
  });
});

/** A stream of the usage and one of the conversation, which have shown the count 0. */
async function openBoth(token: string): Promise<OpenStream[]> {
  const streams = [await OpenStream.open(token), await OpenChat.open(token)];
  await allShow(streams, 0);
  return streams;
}

const allShow = (streams: OpenStream[], count: number) =>
  Promise.all(streams.map((stream) => stream.showing(count)));
const allEnd = (streams: OpenStream[]) =>
  Promise.all(streams.map((stream) => stream.until(({ ended }) => ended)));

describe('the streams of one user', () => {
  it('send connection_established, the current count, then each change to every tab, and never go back', async () => {
    const { phone, token } = await newPerson();
    await post(phone, 2);
    const ticket = await ticketOf(token);
    const [tab, chat] = [await OpenStream.open(ticket), await OpenChat.open(ticket, 0)];
    const streams = [tab, chat, await OpenStream.open(token)];
    await allShow(streams, 2);
    const { profile } = (await call('GET', '/api/user/me', { token })).body;
    const opening = {
      event: 'connection_established',
      type: 'connection_established',
      profile,
    };
    expect(tab.events[0]).toEqual(opening);
    await post(phone);
    await allShow(streams, 3);
    expect(tab.counts).toEqual([2, 3]);
    const updates = [2, 3].map((count) => ({
      type: 'usageUpdate',
      count,
    }));
    expect([chat.events, chat.usage]).toEqual([[], [opening, ...updates]]);
    await parallel(50, () => post(phone));
    await allShow(streams, 5);
    for (const { counts } of streams) expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  });

  it('end with their session, not with another one, not by calls of an ended one, and with all', async () => {
    const { phone, token } = await newPerson();
    const other = await externalSession(phone);
    const ticket = await ticketOf(token);
    const [own, remaining] = [await openBoth(token), await openBoth(other)];
    expect((await logOut(token)).body).toEqual({ success: true });
    await allEnd(own);
    // With more than a user may have open.
    const refused = await parallel(12, (index) => OpenStream.open(index % 2 ? token : ticket));
    expect(tally(refused)).toEqual({ 401: 12 });
    await post(phone);
    await allShow(remaining, 1);
    await logOut(await externalSession(phone), true);
    await allEnd(remaining);
    expect((await getMe(other)).status).toBe(401);
  });

  it('are at most ten, for fifty parallel callers too: the oldest ends', async () => {
    const { phone, token } = await newPerson();
    const oldest = await OpenStream.opened(token);
    const streams: OpenStream[] = [];
    for (let opened = 0; opened < 6; opened += 1) streams.push(...(await openBoth(token)));
    await allEnd([oldest, ...streams.slice(0, 2)]);
    expect(oldest.events.at(-1)).toMatchObject({ event: 'stream_replaced' });
    await post(phone);
    await allShow(streams.slice(2), 1);
    streams.push(...(await parallel(50, () => OpenStream.open(token))));
    const open = () => streams.filter(({ ended, status }) => status === 200 && !ended);
    await until('at most ten streams', () => open().length <= 10);
    await post(phone);
    await allShow(open(), 2);
    expect(open()).toHaveLength(10);
    expect(await openSockets(token)).toBe(10);
  });
});

it('makes no Durable Object request for a usage post while no stream is open', async () => {
  const { phone, token } = await newPerson();
  // With settings a call returns when its background work has ended.
  await botCall('/api/bot/usage', { phone }, undefined, {});
  const known = async () =>
    (await listDurableObjectIds((env as unknown as Env).LIVE_USER)).some((id) =>
      id.equals(liveUserOf(token).id),
    );
  expect(await known()).toBe(false);
  await (await OpenStream.open(token)).showing(1);
  expect(await known()).toBe(true);
});

it('lets its Durable Object hibernate while it is idle, and still gets the next message', async () => {
  type Marked = LiveUser & { mark?: string };
  const { phone, token } = await newPerson();
  const streams = await openBoth(token);
  await runInDurableObject(liveUserOf(token), (object: Marked) => {
    object.mark = 'the same instance';
  });
  // Sockets that cannot hibernate would be closed.
  await evictDurableObject(liveUserOf(token));
  await post(phone);
  await allShow(streams, 1);
  expect(
    await runInDurableObject(liveUserOf(token), (object: Marked) => object.mark),
  ).toBeUndefined();
});

const alarmOf = (token: string) =>
  runInDurableObject(liveUserOf(token), (_, { storage }) => storage.getAlarm());

it('frees Worker and object when the reader disappears, and sets no alarm then when the session ends', async () => {
  const { token } = await newPerson();
  const streams = await openBoth(token);
  expect(await openSockets(token)).toBe(2);
  for (const stream of streams) stream.close();
  await until('no open socket', async () => (await openSockets(token)) === 0);
  await logOut(token);
  expect(await alarmOf(token)).toBeNull();
});

it('shows 0 when the week ends while it is open, without any request', async () => {
  const { phone, token } = await newPerson();
  const { body } = await post(phone, 5);
  advanceClock(Date.parse(body.resetsAt) - Date.now() - second);
  const stream = await OpenStream.open(token);
  await stream.showing(5);
  const requests = watchDatabase(phone, userOf(token));
  advanceClock(2 * second);
  await stream.showing(0);
  expect(requests).toEqual([]);
  advanceClock(300 * second);
  await post(phone);
  await stream.showing(1);
  expect(stream.counts).toEqual([5, 0, 1]);
  expect((await getMe(token)).body.profile.messagesUsedThisPeriod).toBe(1);
});

it('shows the count of a paid week until the next one is paid', async () => {
  const { phone, token } = await newSubscriber('basic');
  advanceClock(7 * day + minute);
  const stream = await OpenStream.opened(token);
  await post(phone);
  await stream.until(({ counts }) => counts.length === 2);
  expect(stream.counts).toEqual([0, 1]);
});

it('consenting before the first message leaves a paid week as it is', async () => {
  const phone = newPhone();
  const token = await externalSession(phone);
  await subscribe(token, 'basic');
  const week = async () => {
    const { rows } = await run('select week_anchor, week_start from users where phone = ?', phone);
    return rows;
  };
  const paid = await week();
  expect(paid).toMatchObject([{ week_anchor: expect.any(Number) }]);
  advanceClock(minute);
  expect((await consent(token)).status).toBe(200);
  expect(await week()).toEqual(paid);
});

it('a stream that waits sends a beat with the time at least every 20 seconds, and ends with its session', async () => {
  vi.useFakeTimers();
  const opened = Date.now();
  const beats: number[] = [];
  const socket = {
    listen: () => undefined,
    ping: () => undefined,
    close: () => undefined,
  } as unknown as LiveSocket;
  const { signal } = new AbortController();
  const total = { seq: 1, used: 3, resetsAt: null };
  const { body } = liveStream({
    socket,
    expiresAt: opened + 110 * second,
    profile: {} as Profile,
    total,
    signal,
  });
  const read = (chunk: Uint8Array) => {
    const [, at] =
      /^event: beat\ndata: {"at":"(.*)"}\n\n$/.exec(new TextDecoder().decode(chunk)) ?? [];
    if (at) beats.push(Date.parse(at));
  };
  const ended = vi.fn();
  void body!.pipeTo(new WritableStream({ write: read })).then(ended);
  await vi.advanceTimersByTimeAsync(105 * second);
  expect(ended).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(35 * second);
  expect(ended).toHaveBeenCalled();
  const gaps = beats.map((at, index) => at - (beats[index - 1] ?? opened));
  expect(beats.length).toBeGreaterThanOrEqual(5);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(20 * second);
});

it('no proxy may hold a stream: it begins with 2 KiB, and forbids compressing and buffering', async () => {
  const { token } = await newPerson();
  for (const path of ['/api/user/usage-stream', '/api/user/chat-stream']) {
    const { headers, body } = await send(`${path}?token=${token}`);
    expect(headers.get('cache-control')).toBe('no-store, no-transform');
    expect(headers.get('x-accel-buffering')).toBe('no');
    const reader = body!.getReader();
    const { value } = await reader.read();
    await reader.cancel();
    expect(new TextDecoder().decode(value)).toMatch(/^: {2048,}\n\n/);
  }
});

const loseEndMessages = () =>
  vi.spyOn(LiveUser.prototype, 'endStreams').mockImplementation(() => undefined);

describe('a session whose end message is lost', () => {
  it.each<[string, (person: Person) => Promise<unknown>]>([
    ['logging out', ({ token }) => logOut(token)],
    ['logging out everywhere', ({ token }) => logOut(token, true)],
    ['deleting the account', ({ token }) => deleteAccount(token)],
    [
      'being set back to pending',
      ({ phone }) =>
        botCall('/api/bot/approvals', {
          phone,
          status: 'pending',
        }),
    ],
  ])('closes the streams within 30 seconds after %s', async (_, end) => {
    const person = await newPerson();
    const streams = await openBoth(person.token);
    const lost = loseEndMessages();
    await end(person);
    await until('the message that is lost', () => lost.mock.calls.length);
    expect(streams.map(({ ended }) => ended)).toEqual([false, false]);
    expect((await alarmOf(person.token))! - Date.now()).toBeLessThan(30 * second);
    expect(await runDurableObjectAlarm(liveUserOf(person.token))).toBe(true);
    await allEnd(streams);
  });

  it('closes no stream of a session that lives on, by one database request, once the database responds', async () => {
    const { phone, token } = await newPerson();
    const [other, ending] = [await externalSession(phone), await externalSession(phone)];
    const streams = [...(await openBoth(token)), ...(await openBoth(other))];
    const leaving = await openBoth(ending);
    loseEndMessages();
    await logOut(ending);
    const libsql = { drop: true, match: userOf(token) } as const;
    await during({ libsql }, () => runDurableObjectAlarm(liveUserOf(token)));
    expect(leaving.map(({ ended }) => ended)).toEqual([false, false]);
    const requests = watchDatabase(userOf(token));
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
    expect(requests).toHaveLength(1);
    await allEnd(leaving);
    vi.restoreAllMocks();
    await post(phone);
    await allShow(streams, 1);
  });

  it('is checked again if it ends while an alarm reads the sessions, and no later for stored messages', async () => {
    const { phone, token } = await newWriter();
    await write(token, 'Hello');
    const other = await externalSession(phone);
    const streams = await openBoth(token);
    const isSoon = (at: number | null) => at !== null && at - Date.now() <= 10 * second;
    const nextCheck = () => until('the alarm', () => alarmOf(token), isSoon);
    loseEndMessages();
    // Beyond the real clock, by which the object's alarm would come.
    advanceClock(minute);
    await logOut(other);
    await nextCheck();
    advanceClock(minute);
    const runAlarm = () => runDurableObjectAlarm(liveUserOf(token));
    const alarm = await startHeld(runAlarm, 'select \\"sessions\\".\\"id\\" from', userOf(token));
    const leaving = await startHeld(
      () => logOut(token),
      'delete from \\"sessions\\"',
      userOf(token),
    );
    const expected = await nextCheck();
    advanceClock(minute);
    await alarm.finish();
    const planned = await alarmOf(token);
    expect((await leaving.finish()).status).toBe(200);
    expect(planned).toBe(expected);
    await runAlarm();
    await allEnd(streams);
  });
});

describe('a channel', () => {
  it('that cannot be joined is 503', async () => {
    const { token } = await newPerson();
    const broken = {
      getByName: () => ({ fetch: () => Promise.reject(new Error('object moved')) }),
    };
    const settings = { LIVE_USER: broken } as never;
    expectUnavailable(await call('GET', `/api/user/usage-stream?token=${token}`, { settings }));
  });

  it('that sends no pong ends the stream', async () => {
    const { 0: theirs, 1: ours } = new WebSocketPair();
    theirs.accept();
    vi.useFakeTimers();
    const socket = new LiveSocket(ours, {
      userId: 'one',
      sessionId: 'one',
    });
    const ended = vi.fn();
    socket.listen({ receive: () => undefined, ended });
    socket.ping();
    await vi.advanceTimersByTimeAsync(4 * second);
    expect(ended).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(2 * second);
    expect(ended).toHaveBeenCalledOnce();
  });
});
