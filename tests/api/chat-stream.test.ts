import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { LiveUser } from '../../worker/live/live-user.ts';
import { botCall, call, parallel } from './support/api.ts';
import { newSettledWriter, newWriter, readChat, reply, write } from './support/chat.ts';
import { advanceClock, second, until } from './support/clock.ts';
import { watchDatabase } from './support/requests.ts';
import { costOf } from './support/log.ts';
import { externalSession, newPerson, userOf } from './support/person.ts';
import { liveUserOf, OpenChat, OpenStream } from './support/streams.ts';

describe('an open stream', () => {
  it('costs the database one request, and none while it waits or receives', async () => {
    // Bringing the consent to the bot makes database requests of its own.
    const { phone, token } = await newSettledWriter();
    const requests = watchDatabase(phone, userOf(token));
    const stream = await OpenChat.open(token);
    expect([requests.length, costOf(stream)]).toEqual([1, 1]);
    await reply(phone, 'Hello');
    await stream.until(({ messages }) => messages.length === 1);
    expect(requests).toHaveLength(2);
    stream.close();
  });

  it('shows typing, and its end', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    await botCall('/api/bot/typing', { phone });
    const { typingUntil } = await readChat(token);
    expect(Date.parse(typingUntil!) - Date.now()).toBeGreaterThan(15 * second);
    await botCall('/api/bot/typing', { phone, seconds: 0 });
    await stream.until(({ events }) => events.length === 2);
    expect(stream.events).toEqual([
      { type: 'typing', until: typingUntil },
      { type: 'typing', until: null },
    ]);
    expect((await readChat(token)).typingUntil).toBeNull();
    stream.close();
  });

  it('ends as the oldest of eleven', async () => {
    const { phone, token } = await newWriter();
    const streams = [];
    for (let index = 0; index < 11; index += 1) {
      advanceClock(1);
      streams.push(await OpenChat.open(token));
    }
    await streams[0]!.until(({ ended }) => ended);
    await reply(phone, 'To ten');
    for (const stream of streams.slice(1)) await stream.until(({ messages }) => messages.length === 1);
    expect(streams.slice(1).map(({ ended }) => ended)).toEqual(streams.slice(1).map(() => false));
    for (const stream of streams) stream.close();
  });

  it('ends with its session, and not with another one of the user', async () => {
    const { phone, token } = await newWriter();
    const other = await externalSession(phone);
    const [stream, remaining] = [await OpenChat.open(token), await OpenChat.open(other)];
    await call('POST', '/api/auth/logout', { token });
    await stream.until(({ ended }) => ended);
    await reply(phone, 'Still here');
    await remaining.until(({ messages }) => messages.length === 1);
    await call('POST', '/api/auth/logout', { token: other, body: { everywhere: true } });
    await remaining.until(({ ended }) => ended);
  });

  it('ends when the account is set back to pending, or deleted', async () => {
    for (const end of [
      (phone: string) => botCall('/api/bot/approvals', { phone, status: 'pending' }),
      (_: string, token: string) => call('DELETE', '/api/user/me', { token }),
    ]) {
      const { phone, token } = await newWriter();
      const stream = await OpenChat.open(token);
      await end(phone, token);
      await stream.until(({ ended }) => ended);
    }
  });

  it('ends within 30 seconds when the end of its session is lost on its way', async () => {
    const { phone, token } = await newWriter();
    const other = await externalSession(phone);
    const [stream, remaining] = [await OpenChat.open(token), await OpenChat.open(other)];
    await stream.until(({ opened }) => opened);
    const lost = vi.spyOn(LiveUser.prototype, 'endStreams').mockImplementation(() => undefined);
    await call('POST', '/api/auth/logout', { token });
    await until('the message that is lost', () => lost.mock.calls.length);
    vi.restoreAllMocks();
    expect(stream.ended).toBe(false);
    const due = await runInDurableObject(liveUserOf(token), (_, state) => state.storage.getAlarm());
    expect(due! - Date.now()).toBeLessThan(30 * second);
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
    await stream.until(({ ended }) => ended);
    await reply(phone, 'Still here');
    await remaining.until(({ messages }) => messages.length === 1);
    remaining.close();
  });

  it('is not opened for a session that ends at the same moment', async () => {
    const { token } = await newWriter();
    const [stream] = await Promise.all([OpenChat.open(token), call('POST', '/api/auth/logout', { token })]);
    if (stream.status === 200) await stream.until(({ ended }) => ended);
    expect([200, 401]).toContain(stream.status);
  });

  it('frees the object when its reader disconnects', async () => {
    const { token } = await newWriter();
    const stream = await OpenChat.open(token);
    const sockets = () => runInDurableObject(liveUserOf(token), (_, state) => state.getWebSockets().length);
    expect(await sockets()).toBe(1);
    stream.close();
    await until('no open socket', sockets, (open) => open === 0);
  });

  it('lets its Durable Object hibernate while it is idle, and receives the next message', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    await reply(phone, 'One');
    await stream.until(({ messages }) => messages.length === 1);
    await runInDurableObject(liveUserOf(token), (object: object & { mark?: string }) => {
      object.mark = 'the same instance';
    });
    // Sockets that cannot hibernate would be closed.
    await evictDurableObject(liveUserOf(token));
    await reply(phone, 'Two');
    await stream.until(({ messages }) => messages.length === 2);
    expect(stream.messages.map(({ seq }) => seq)).toEqual([1, 2]);
    const mark = await runInDurableObject(liveUserOf(token), (object: object & { mark?: string }) => object.mark);
    expect(mark).toBeUndefined();
    stream.close();
  });

  it('goes on with the next key after consent was withdrawn and given again', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    await write(token, 'Before');
    await call('DELETE', '/api/user/chat/consent', { token });
    await call('PUT', '/api/user/chat/consent', { token, body: { version: 'again' } });
    await reply(phone, 'After');
    await stream.until(({ messages }) => messages.some(({ text }) => text === 'After'));
    expect(stream.events.map(({ type }) => type)).toContain('cleared');
    stream.close();
  });
});

describe('the usage of the user on a chat stream', () => {
  it('begins with the profile and the present count, and follows each change without an id', async () => {
    const { phone, token } = await newWriter();
    await botCall('/api/bot/usage', { phone, count: 2 });
    const stream = await OpenChat.open(token);
    await stream.until(({ usage }) => usage.length === 1);
    expect(stream.profile).toEqual((await call('GET', '/api/user/me', { token })).body.profile);
    await botCall('/api/bot/usage', { phone });
    await stream.until(({ usage }) => usage.length === 2);
    expect(stream.usage).toEqual([
      { type: 'usageUpdate', count: 2 },
      { type: 'usageUpdate', count: 3 },
    ]);
    stream.close();
  });

  it('counts as one of ten streams, together with usage streams', async () => {
    const { token } = await newWriter();
    const oldest = await OpenChat.open(token);
    await oldest.until(({ opened }) => opened);
    const others: OpenStream[] = [];
    for (let opened = 0; opened < 10; opened += 1) others.push(await OpenStream.opened(token));
    await oldest.until(({ ended }) => ended);
    for (const stream of others) stream.close();
  });
});

it('opens for somebody who has not consented yet', async () => {
  const { token } = await newPerson();
  const stream = await OpenChat.open(token, 0);
  expect(stream.status).toBe(200);
  await stream.until(({ opened }) => opened);
  expect(stream.events).toEqual([]);
  stream.close();
});

describe('a stream that is opened again', () => {
  it('brings what has changed since a revision, then what changes', async () => {
    const { phone, token } = await newWriter();
    for (let index = 1; index <= 4; index += 1) await reply(phone, `Reply ${index}`);
    const { revision } = await readChat(token);
    const ticket = (await call('POST', '/api/user/stream-ticket', { token })).body.ticket;
    const stream = await OpenChat.open(ticket, revision - 2);
    await reply(phone, 'Reply 5');
    await stream.until(({ messages }) => messages.length === 3);
    expect(stream.opened).toBe(true);
    expect(stream.events.map(({ id, message }) => [id, message.text])).toEqual([
      [String(revision - 1), 'Reply 3'],
      [String(revision), 'Reply 4'],
      [String(revision + 1), 'Reply 5'],
    ]);
    stream.close();
  });

  it('uses the greater one of `after` and Last-Event-ID, and is live only without both', async () => {
    const { phone, token } = await newWriter();
    for (let index = 1; index <= 4; index += 1) await reply(phone, `Reply ${index}`);
    const streams = [
      await OpenChat.open(token, 1, { 'last-event-id': '3' }),
      await OpenChat.open(token, 3, { 'last-event-id': '1' }),
      await OpenChat.open(token, undefined, { 'last-event-id': '3' }),
      await OpenChat.open(token),
    ];
    await reply(phone, 'Live');
    const texts: string[][] = [];
    for (const stream of streams) {
      await stream.until(({ messages }) => messages.at(-1)?.text === 'Live');
      texts.push(stream.messages.map(({ text }) => text));
      stream.close();
    }
    expect(texts).toEqual([['Reply 4', 'Live'], ['Reply 4', 'Live'], ['Reply 4', 'Live'], ['Live']]);
  });

  it('sends reset when it is ahead, or more than 200 changes behind', async () => {
    const { phone, token } = await newWriter();
    await parallel(30, async (lane) => {
      for (let index = 0; index < 10; index += 1) await reply(phone, `Reply ${lane}.${index}`);
    });
    const { revision } = await readChat(token);
    expect(revision).toBe(300);
    for (const after of [0, 99, 301]) {
      const stream = await OpenChat.open(token, after);
      await stream.until(({ events }) => events.length > 0);
      expect(stream.events).toEqual([{ id: '300', type: 'reset' }]);
      stream.close();
    }
    const behind = await OpenChat.open(token, 100);
    await behind.until(({ messages }) => messages.length === 200);
    behind.close();
  });

  it('brings exactly 200 changes in their order', async () => {
    const { phone, token } = await newWriter();
    await parallel(20, async (lane) => {
      for (let index = 0; index < 10; index += 1) await reply(phone, `Reply ${lane}.${index}`);
    });
    const stream = await OpenChat.open(token, 0);
    await stream.until(({ messages }) => messages.length === 200);
    expect(stream.messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    stream.close();
  });

  it('misses nothing and repeats nothing while others write', async () => {
    const { phone, token } = await newWriter();
    const seen: number[] = [];
    let after = 0;
    const writing = parallel(10, async (lane) => {
      for (let index = 0; index < 10; index += 1) await reply(phone, `Reply ${lane}.${index}`);
    });
    while (seen.length < 100) {
      const stream = await OpenChat.open(token, after);
      await stream.until(({ messages }) => messages.length > 0);
      stream.close();
      seen.push(...stream.messages.map(({ seq }) => seq));
      after = Number(stream.events.at(-1)?.id ?? after);
    }
    await writing;
    expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });
});
