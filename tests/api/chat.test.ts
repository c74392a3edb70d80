import { describe, expect, it, vi } from 'vitest';
import { botCall, call } from './support/api.ts';
import {
  acceptedBy,
  answer,
  consent,
  newWriter,
  OpenChat,
  readChat,
  reply,
  write,
  type ChatMessage,
} from './support/chat.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { parallel } from './support/parallel.ts';
import { externalSession, newPerson, newPhone, type Person } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

const eventsOf = async (phone: string, type: string) =>
  (await sandbox.botEvents()).filter((event) => event.type === type && event.data.phone === phone);

/** Waits until the bot has accepted so many messages, and lets it reply. */
async function untilAnswered({ phone, token }: Person, count: number): Promise<ChatMessage[]> {
  await vi.waitFor(async () => expect(await acceptedBy(phone)).toHaveLength(count), 5000);
  await answer(phone);
  return vi.waitFor(async () => {
    const { messages } = await readChat(token);
    expect(messages.filter(({ state }) => state === 'sent')).toEqual([]);
    return messages;
  });
}

describe('consent', () => {
  it('comes before the first message, is versioned, and is reported to the bot', async () => {
    const { phone, token } = await newPerson();
    expect((await readChat(token)).consent).toBeNull();
    const refused = await write(token, 'Hello');
    expect({ status: refused.status, body: refused.body }).toEqual({
      status: 403,
      body: { success: false, code: 'consent_needed', message: 'Please accept the notice before you write.' },
    });
    const given = await consent(token, 'v1');
    expect(given.body).toEqual({ success: true, consent: { version: 'v1', at: expect.any(String) } });
    expect((await consent(token, 'v1')).body).toEqual(given.body);
    expect((await readChat(token)).consent).toEqual(given.body.consent);
    expect((await write(token, 'Hello')).status).toBe(200);
    await vi.waitFor(async () =>
      expect((await eventsOf(phone, 'chat.consent')).map(({ data }) => data.version)).toEqual(['v1']),
    );
  });

  it('is the first contact of a user with an external token', async () => {
    const phone = newPhone();
    const token = await externalSession(phone);
    expect((await botCall('/api/bot/usage', { phone })).body.allowed).toBe(false);
    await consent(token);
    expect((await write(token, 'Hello')).status).toBe(200);
    expect((await botCall('/api/bot/usage', { phone })).body).toMatchObject({ allowed: true, used: 1 });
  });

  it('removes the conversation when it is withdrawn', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    await write(token, 'Hello');
    await untilAnswered(person, 1);
    const { status, body } = await call('DELETE', '/api/user/chat/consent', { token });
    expect({ status, body }).toEqual({ status: 200, body: { success: true, consent: null } });
    expect(await readChat(token)).toMatchObject({ messages: [], consent: null });
    expect((await write(token, 'Hello')).body.code).toBe('consent_needed');
    await vi.waitFor(async () =>
      expect((await eventsOf(phone, 'chat.consent')).map(({ data }) => data.version)).toEqual(['2026-11', null]),
    );
    expect(await eventsOf(phone, 'chat.cleared')).toHaveLength(1);
    expect((await call('DELETE', '/api/user/chat/consent', { token })).body).toEqual({ success: true, consent: null });
  });
});

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
    const messages = await untilAnswered(person, 1);
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
    const answers = await parallel(30, () => write(token, 'Only once', id));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.message).toMatchObject({ id, seq: 1, text: 'Only once' });
    }
    await untilAnswered(person, 1);
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

describe('limits', () => {
  it('are twenty messages a minute, and a replay is no message', async () => {
    const { token } = await newWriter();
    const settings = { CHAT_MESSAGES_WAITING: '100' };
    const ids = Array.from({ length: 25 }, () => crypto.randomUUID());
    await parallel(50, (index) => write(token, 'Hello', ids[index % 25], settings));
    const { messages } = await readChat(token, '?limit=50');
    expect(messages.filter(({ author }) => author === 'user')).toHaveLength(20);
    const refused = await write(token, 'One more', undefined, settings);
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const known = messages.find(({ author }) => author === 'user')!;
    expect((await write(token, 'Hello', known.id, settings)).body.message.seq).toBe(known.seq);
    advanceClock(minute);
    expect((await write(token, 'A minute later', undefined, settings)).status).toBe(200);
  });

  it('are five messages that wait for the bot', async () => {
    const { token } = await newWriter();
    await sandbox.faults({ bot: { status: 503 } });
    const answers = await parallel(20, () => write(token, 'Are you there?'));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
    const sent = answers.find(({ status }) => status === 200)!.body.message;
    expect((await write(token, 'Are you there?', sent.id)).body.message.id).toBe(sent.id);
  });

  it('are the allowance of the week, but for a day after a crisis', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    const known = (await write(token, 'Hello')).body.message;
    await untilAnswered(person, 1);
    await botCall('/api/bot/usage', { phone, count: 4 });
    const refused = await write(token, 'One more');
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'allowance_spent', message: "You have used this week's messages.", used: 5, limit: 5 },
    });
    expect(Date.parse(refused.body.resetsAt)).toBeGreaterThan(Date.now());
    expect((await write(token, 'Hello', known.id)).body.message).toMatchObject({ id: known.id, state: 'delivered' });
    await reply(phone, 'Please call somebody.', 'crisis-1', { crisis: true });
    expect((await write(token, 'I will')).status).toBe(200);
    advanceClock(day + minute);
    expect((await write(token, 'One more')).body.code).toBe('allowance_spent');
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

describe('clearing', () => {
  it('empties the conversation everywhere; consent, seq and revision go on', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    const stream = await OpenChat.open(token);
    await write(token, 'Hello');
    await untilAnswered(person, 1);
    const before = await readChat(token);
    expect((await call('DELETE', '/api/user/chat', { token })).body).toEqual({ success: true });
    const after = await readChat(token);
    expect(after).toMatchObject({ messages: [], hasMore: false, consent: before.consent });
    expect(after.revision).toBe(before.revision + 1);
    await stream.until(({ events }) => events.some(({ type }) => type === 'cleared'));
    const { message } = (await write(token, 'A new beginning')).body;
    expect(message.seq).toBe(3);
    await stream.until(({ messages }) => messages.some(({ text }) => text === 'A new beginning'));
    await vi.waitFor(async () => expect(await eventsOf(phone, 'chat.cleared')).toHaveLength(1));
    const late = await OpenChat.open(token, 1);
    await late.until(({ messages }) => messages.length > 0);
    expect(late.events[0]).toMatchObject({ id: String(after.revision), type: 'cleared' });
    expect(late.messages.map(({ text }) => text)).not.toContain('Hello');
    for (const each of [stream, late]) each.close();
  });

  it('refuses a reply to a message that was cleared, also when it comes again', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Never mind')).body;
    await call('DELETE', '/api/user/chat', { token });
    const late = { replyTo: message.id };
    const refusal = { status: 409, body: { code: 'conflict', message: 'The person has cleared this message.' } };
    expect(await reply(phone, 'About that', 'late-1', late)).toMatchObject(refusal);
    expect(await reply(phone, 'About that', 'late-1', late)).toMatchObject(refusal);
    expect((await readChat(token)).messages).toEqual([]);
    await call('DELETE', '/api/user/chat', { token });
    expect(await reply(phone, 'About that', 'late-2', late)).toMatchObject(refusal);
    for (const accepted of [{}, { replyTo: 'wamid.elsewhere' }])
      expect(await reply(phone, 'By the way', undefined, accepted)).toMatchObject({ status: 200 });
    expect((await readChat(token)).messages.map(({ text }) => text)).toEqual(['By the way', 'By the way']);
  });

  it('stores no reply a second time that the person has cleared with its message', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Hello')).body;
    const again = () => reply(phone, 'Hello to you', 'first', { replyTo: message.id });
    expect(await again()).toMatchObject({ status: 200 });
    await call('DELETE', '/api/user/chat', { token });
    expect(await again()).toMatchObject({ status: 409 });
    expect((await readChat(token)).messages).toEqual([]);
  });

  it('accepts a reply to a message that is sent again under its id after the clearing', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Hello')).body;
    await call('DELETE', '/api/user/chat', { token });
    await write(token, 'Hello', message.id);
    expect(await reply(phone, 'Hello to you', 'first', { replyTo: message.id })).toMatchObject({ status: 200 });
  });

  it('withdraws the messages that wait for the bot', async () => {
    const { phone, token } = await newWriter();
    await vi.waitFor(async () => expect(await eventsOf(phone, 'chat.consent')).toHaveLength(1));
    await sandbox.faults({ bot: { status: 503 } });
    await write(token, 'Never mind');
    await write(token, 'Nor this');
    await scheduler.wait(300);
    await call('DELETE', '/api/user/chat', { token });
    await sandbox.faults({ bot: null });
    advanceClock(5 * minute);
    await runCron();
    expect(await acceptedBy(phone)).toEqual([]);
    expect(await eventsOf(phone, 'chat.cleared')).toHaveLength(1);
  });
});
