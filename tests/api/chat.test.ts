import { describe, expect, it, vi } from 'vitest';
import { call } from './support/api.ts';
import { acceptedBy, newWriter, readChat, reply, untilReplied, write, type ChatMessage } from './support/chat.ts';
import { runCron } from './support/cron.ts';
import { OpenChat } from './support/open-chat.ts';
import { parallel } from './support/parallel.ts';
import { newPerson } from './support/person.ts';

describe('a message', () => {
  it('is stored, sent to the bot and replied to, in order', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    const stream = await OpenChat.open(token);
    const headers = {
      'accept-language': 'de-AT,de;q=0.9,en;q=0.5',
      'cf-ipcountry': 'AT',
      authorization: `Bearer ${token}`,
    };
    const id = crypto.randomUUID();
    const sent = await call('POST', '/api/user/chat/messages', { headers, body: { id, text: 'Hello' } });
    expect(sent.status).toBe(200);
    const first = { id, seq: 1, author: 'user', text: 'Hello', at: expect.any(String), state: 'sent' };
    expect(sent.body).toEqual({ success: true, message: first });
    const messages = await untilReplied(person, 1);
    expect(messages).toEqual([
      { ...first, state: 'delivered' },
      expect.objectContaining({ seq: 2, author: 'solace', state: 'delivered', replyTo: id }),
    ]);
    const [data] = await acceptedBy(phone);
    expect(data).toEqual({
      phone,
      userId: expect.any(String),
      messageId: id,
      seq: 1,
      text: 'Hello',
      at: sent.body.message.at,
      locale: 'de',
      country: 'AT',
    });
    await stream.until(({ messages: seen }) => seen.length === 2);
    expect(stream.events.map(({ type }) => type)).toEqual(['message', 'state', 'typing', 'message', 'typing']);
    expect(stream.events[1]).toEqual({ id: '2', type: 'state', upTo: 1, state: 'delivered' });
    expect(stream.events.filter(({ id }) => id).map(({ id }) => id)).toEqual(['1', '2', '3']);
    expect(stream.events.at(-1)).toEqual({ type: 'typing', until: null });
    stream.close();
  });

  it('is the same message when it is sent again, and another text under its id is refused', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    const id = crypto.randomUUID();
    const answers = await parallel(50, () => write(token, 'Only once', id));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.message).toMatchObject({ id, seq: 1, text: 'Only once' });
    }
    await untilReplied(person, 1);
    expect((await write(token, 'Only once', id)).body.message).toMatchObject({ seq: 1, state: 'delivered' });
    const other = await write(token, 'Something else', id);
    expect({ status: other.status, body: other.body }).toEqual({
      status: 409,
      body: { success: false, code: 'id_reused', message: 'Message id already used' },
    });
    await scheduler.wait(500);
    await runCron();
    expect(await acceptedBy(phone)).toHaveLength(1);
    expect((await readChat(token)).messages).toHaveLength(2);
  });

  it('gets a distinct seq among fifty concurrent messages', async () => {
    const { phone, token } = await newWriter();
    const settings = { CHAT_MESSAGES_PER_MINUTE: '100', CHAT_MESSAGES_WAITING: '100' };
    const stream = await OpenChat.open(token);
    const answers = await parallel(50, (index) => write(token, `Message ${index}`, undefined, settings));
    expect(new Set(answers.map(({ body }) => body.message.seq))).toEqual(
      new Set(Array.from({ length: 50 }, (_, index) => index + 1)),
    );
    const inOrder = answers.map(({ body }) => body.message as ChatMessage).toSorted((a, b) => a.seq - b.seq);
    await vi.waitFor(async () => expect(await acceptedBy(phone)).toHaveLength(50), 15_000);
    await stream.until(({ messages }) => messages.length >= 50);
    const shown = stream.messages.filter(({ author }) => author === 'user').map(({ id }) => id);
    expect(shown).toEqual(inOrder.map(({ id }) => id));
    stream.close();
  });

  it.each([
    ['is empty', { text: '' }, 'Please write a message.'],
    ['is blank', { text: ' \n\t\u00a0' }, 'Please write a message.'],
    ['is no text', { text: 7 }, 'Please write a message.'],
    ['is too long', { text: 'x'.repeat(4001) }, 'Messages can have up to 4,000 characters.'],
    ['has half a character', { text: 'a\ud83d' }, 'The message contains an incomplete character. Please remove it.'],
    ['has no uuid', { id: 'one' }, 'id must be a UUID'],
  ])('is refused when it %s', async (_, fields, message) => {
    const { token } = await newWriter();
    const body = { id: crypto.randomUUID(), text: 'Hello', ...fields };
    const refused = await call('POST', '/api/user/chat/messages', { token, body });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_field', message } });
    expect((await readChat(token)).messages).toEqual([]);
  });

  it.each([
    ['markup', '<script>alert(1)</script> & "quotes"'],
    ['control characters', 'a\u0000b\u0007c\u001b[31m\r\n'],
    ['text that runs from right to left', '\u202eevil\u2066\u200f'],
    ['4,000 characters of three bytes', '語'.repeat(4000)],
    ['emoji', '👩‍👩‍👧 '],
  ])('keeps %s as text', async (_, text) => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    expect((await write(token, text)).body.message.text).toBe(text);
    await vi.waitFor(async () => expect((await acceptedBy(phone))[0]?.text).toBe(text), 5000);
    expect((await readChat(token)).messages[0]!.text).toBe(text);
    await stream.until(({ messages }) => messages[0]?.text === text);
    stream.close();
  });
});

describe('a page of the conversation', () => {
  it('holds the newest messages, or those before one', async () => {
    const { phone, token } = await newWriter();
    for (let index = 1; index <= 7; index += 1) await reply(phone, `Reply ${index}`);
    const seqs = async (query: string) => {
      const { messages, hasMore } = await readChat(token, query);
      return [messages.map(({ seq }) => seq), hasMore];
    };
    expect(await seqs('')).toEqual([[1, 2, 3, 4, 5, 6, 7], false]);
    expect(await seqs('?limit=3')).toEqual([[5, 6, 7], true]);
    expect(await seqs('?limit=3&before=5')).toEqual([[2, 3, 4], true]);
    expect(await seqs('?before=2')).toEqual([[1], false]);
    expect(await seqs('?before=1')).toEqual([[], false]);
  });

  it.each(['limit=0', 'limit=51', 'limit=x', 'limit=', 'limit=1.5', 'before=0', 'before=-1', 'before=x', 'before='])(
    'refuses ?%s',
    async (query) => {
      const { token } = await newPerson();
      const refused = await call('GET', `/api/user/chat?${query}`, { token });
      expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_field' } });
    },
  );
});
