import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { LiveUser } from '../../worker/live/live-user.ts';
import { botCall, call } from './support/api.ts';
import { newWriter, readChat, reply, write } from './support/chat.ts';
import { newSettledWriter } from './support/chat-delivery.ts';
import { second } from './support/clock.ts';
import { liveUserOf } from './support/conversation.ts';
import { OpenChat } from './support/open-chat.ts';
import { externalSession, newPerson } from './support/person.ts';
import { costOf } from './support/sandbox.ts';
import { OpenStream } from './support/stream.ts';

describe('an open stream', () => {
  it('costs the database one request, and none while it waits or receives', async () => {
    // Bringing the consent to the bot makes database requests of its own.
    const { phone, token } = await newSettledWriter();
    const { result: stream, stats } = await costOf(() => OpenChat.open(token));
    expect(stats.libsql).toBe(1);
    const received = await costOf(async () => {
      await reply(phone, 'Hello');
      await stream.until(({ messages }) => messages.length === 1);
    });
    expect(received.stats.libsql).toBe(1);
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
    const { token } = await newWriter();
    const streams = [];
    for (let index = 0; index < 11; index += 1) {
      streams.push(await OpenChat.open(token));
      await scheduler.wait(5);
    }
    await streams[0]!.until(({ ended }) => ended);
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
    vi.spyOn(LiveUser.prototype, 'endStreams').mockImplementation(() => undefined);
    await call('POST', '/api/auth/logout', { token });
    await scheduler.wait(300);
    vi.restoreAllMocks();
    expect(stream.ended).toBe(false);
    const due = await runInDurableObject(liveUserOf(token), (_, state) => state.storage.getAlarm());
    expect(due! - Date.now()).toBeLessThan(30 * second);
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
    await stream.until(({ ended }) => ended);
    expect(remaining.ended).toBe(false);
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
    await scheduler.wait(second);
    expect(await sockets()).toBe(0);
  });

  it('lets its Durable Object hibernate while it is idle, and receives the next message', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    await reply(phone, 'One');
    await stream.until(({ messages }) => messages.length === 1);
    await runInDurableObject(liveUserOf(token), (object: object & { mark?: string }) => {
      object.mark = 'the same instance';
    });
    await scheduler.wait(12 * second);
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

  it('comes with a message while no usage stream is open', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    await reply(phone, 'One');
    await botCall('/api/bot/usage', { phone });
    await stream.until(({ messages, usage }) => messages.length === 1 && usage.length === 2);
    stream.close();
  });

  it('counts as one of ten streams, together with usage streams', async () => {
    const { token } = await newWriter();
    const oldest = await OpenChat.open(token);
    await oldest.until(({ opened }) => opened);
    const others: OpenStream[] = [];
    for (let opened = 0; opened < 10; opened += 1) others.push(await OpenStream.open(token));
    await oldest.until(({ ended }) => ended, 30 * second);
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
