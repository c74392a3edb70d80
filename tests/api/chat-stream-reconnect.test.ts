import { describe, expect, it } from 'vitest';
import { call } from './support/api.ts';
import { newWriter, readChat, reply } from './support/chat.ts';
import { OpenChat } from './support/open-chat.ts';
import { parallel } from './support/parallel.ts';

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
    for (let round = 0; round < 8; round += 1) {
      const stream = await OpenChat.open(token, after);
      await scheduler.wait(60);
      stream.close();
      seen.push(...stream.messages.map(({ seq }) => seq));
      after = Number(stream.events.at(-1)?.id ?? after);
    }
    await writing;
    const last = await OpenChat.open(token, after);
    await last.until(({ messages }) => seen.length + messages.length === 100);
    seen.push(...last.messages.map(({ seq }) => seq));
    expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
    last.close();
  });
});
