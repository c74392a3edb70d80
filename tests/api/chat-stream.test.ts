import { describe, expect, it } from 'vitest';
import { botCall, call, parallel } from './support/api.ts';
import { consent, newSettledWriter, newWriter, readChat, reply, write } from './support/chat.ts';
import { advanceClock, eventually, second } from './support/clock.ts';
import { userOf } from './support/person.ts';
import { costOf, watchDatabase } from './support/requests.ts';
import { OpenChat, ticketOf } from './support/streams.ts';

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
  });

  it('shows typing and its text, also to who connects in the middle, until its end or the message', async () => {
    advanceClock(0);
    const { phone, token } = await newWriter();
    const type = (body: object) =>
      botCall('/api/bot/typing', {
        phone,
        ...body,
      });
    const stream = await OpenChat.open(token);
    await type({});
    const { typingUntil } = await readChat(token);
    expect(Date.parse(typingUntil!) - Date.now()).toBe(20 * second);
    await type({ seconds: 0 });
    await stream.until(({ events }) => events.length === 2);
    const end = { type: 'typing', until: null };
    expect(stream.events).toEqual([{ type: 'typing', until: typingUntil }, end]);
    expect((await readChat(token)).typingUntil).toBeNull();

    for (const text of ['I hear', 'I hear you']) await type({ text });
    await stream.until(({ events }) => events.length === 4);
    expect(stream.events.slice(2).map(({ text }) => text)).toEqual(['I hear', 'I hear you']);
    const late = await OpenChat.open(token);
    await late.until(({ events }) => events.length > 0);
    expect(late.events).toEqual([
      {
        type: 'typing',
        until: expect.any(String),
        text: 'I hear you',
      },
    ]);
    expect((await readChat(token)).messages).toEqual([]);
    await reply(phone, 'I hear you.');
    await eventually(() => expect(stream.events.at(-1)).toEqual(end));
    const after = await OpenChat.open(token, 0);
    await after.until(({ messages }) => messages.length === 1);
    expect(after.events.map((event) => event.type)).toEqual(['message']);
  });

  it('goes on with the next key after consent was withdrawn and given again', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    await write(token, 'Before');
    await call('DELETE', '/api/user/chat/consent', { token });
    await consent(token);
    await reply(phone, 'After');
    await stream.until(({ messages }) => messages.some(({ text }) => text === 'After'));
    expect(stream.events.map(({ type }) => type)).toContain('cleared');
  });
});

describe('a stream that is opened again', () => {
  it('brings what has changed after the greater one of `after` and Last-Event-ID, and is live only without both', async () => {
    const { phone, token } = await newWriter();
    for (let index = 1; index <= 4; index += 1) await reply(phone, `Reply ${index}`);
    const ticket = await ticketOf(token);
    const streams = [
      await OpenChat.open(ticket, 2),
      await OpenChat.open(token, 1, { 'last-event-id': '3' }),
      await OpenChat.open(token, 3, { 'last-event-id': '1' }),
      await OpenChat.open(token, undefined, { 'last-event-id': '3' }),
      await OpenChat.open(token),
    ];
    await reply(phone, 'Live');
    const shown = [];
    for (const stream of streams) {
      await stream.until(({ messages }) => messages.at(-1)?.text === 'Live');
      shown.push(stream.events.map(({ id, message }) => `${id} ${message.text}`));
    }
    const all = ['3 Reply 3', '4 Reply 4', '5 Live'];
    expect(shown).toEqual([all, all.slice(1), all.slice(1), all.slice(1), all.slice(2)]);
  });

  it('brings 200 changes in their order, and sends reset when it is ahead or further behind', async () => {
    const { phone, token } = await newWriter();
    await parallel(10, async () => {
      for (let index = 0; index < 21; index += 1) await reply(phone, 'Hello');
    });
    expect((await readChat(token)).revision).toBe(210);
    for (const after of [0, 9, 211]) {
      const stream = await OpenChat.open(token, after);
      await stream.until(({ events }) => events.length > 0);
      expect(stream.events).toEqual([{ id: '210', type: 'reset' }]);
    }
    const behind = await OpenChat.open(token, 10);
    await behind.until(({ messages }) => messages.length === 200);
    expect(behind.messages.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 200 }, (_, index) => 11 + index),
    );
  });
});
