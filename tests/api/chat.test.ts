import { describe, expect, it } from 'vitest';
import { botCall, call, parallel, runCron, tally } from './support/api.ts';
import {
  acceptedBy,
  consent,
  newWriter,
  readChat,
  reply,
  textsOf,
  untilAccepted,
  untilDelivered,
  untilReplied,
  write,
  idReused,
} from './support/chat.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { shortenPauses } from './support/pauses.ts';
import { newPerson } from './support/person.ts';
import { outboxOf, sandbox } from './support/sandbox.ts';
import { OpenChat } from './support/streams.ts';

describe('a message', () => {
  it('is stored, sent to the bot and replied to, in order', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    const headers = {
      'accept-language': 'de-AT,de;q=0.9,en;q=0.5',
      'cf-ipcountry': 'AT',
    };
    const id = crypto.randomUUID();
    const sent = await call('POST', '/api/user/chat/messages', {
      token,
      headers,
      body: { id, text: 'Hello' },
    });
    const first = {
      id,
      seq: 1,
      author: 'user',
      text: 'Hello',
      at: expect.any(String),
      state: 'sent',
    };
    expect(sent).toMatchObject({
      status: 200,
      body: { success: true, message: first },
    });
    expect(await untilReplied({ phone, token }, 1)).toEqual([
      { ...first, state: 'delivered' },
      expect.objectContaining({
        seq: 2,
        author: 'solace',
        state: 'delivered',
        replyTo: id,
      }),
    ]);
    const [data] = await acceptedBy(phone);
    const { at } = sent.body.message;
    const userId = expect.any(String);
    expect(data).toEqual({
      phone,
      userId,
      messageId: id,
      seq: 1,
      text: 'Hello',
      at,
      locale: 'en',
      country: 'AT',
    });
    await stream.until(({ messages }) => messages.length === 2);
    expect(stream.events.map(({ type }) => type)).toEqual([
      'message',
      'state',
      'typing',
      'message',
      'typing',
    ]);
    expect(stream.events[1]).toEqual({
      id: '2',
      type: 'state',
      upTo: 1,
      state: 'delivered',
    });
    expect(stream.events.flatMap((event) => event.id ?? [])).toEqual(['1', '2', '3']);
    expect(stream.events.at(-1)).toEqual({ type: 'typing', until: null });
  });

  it('is the same message when it is sent again, and another text under its id is refused', async () => {
    const { phone, token } = await newWriter();
    const id = crypto.randomUUID();
    const answers = await parallel(50, () => write(token, 'Only once', id));
    const message = { id, seq: 1, text: 'Only once' };
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 200,
        body: { message },
      });
    await untilReplied({ phone, token }, 1);
    expect((await write(token, 'Only once', id)).body.message).toMatchObject({
      seq: 1,
      state: 'delivered',
    });
    expect(await write(token, 'Something else', id)).toMatchObject(idReused);
    await untilDelivered(phone);
    await runCron();
    expect(await acceptedBy(phone)).toHaveLength(1);
    expect((await readChat(token)).messages).toHaveLength(2);
  });

  it('keeps one of two texts that fifty calls send under one id at once', async () => {
    const { phone, token } = await newWriter();
    const [id, texts] = [crypto.randomUUID(), ['One', 'Two'] as const];
    const answers = await parallel(50, (index) => write(token, texts[index % 2]!, id));
    const { text } = answers.find(({ status }) => status === 200)!.body.message;
    answers.forEach((answer, index) =>
      expect(answer).toMatchObject(
        texts[index % 2] === text
          ? {
              status: 200,
              body: { message: { id, text } },
            }
          : idReused,
      ),
    );
    await untilDelivered(phone);
    expect(await acceptedBy(phone)).toMatchObject([{ messageId: id, text }]);
    expect(await textsOf({ token })).toEqual([text]);
  });

  it('without a text, or with a malformed or too long one, is refused, as is an id that is no UUID', async () => {
    const { token } = await newWriter();
    for (const [fields, message] of [
      [{ text: '' }, 'Please write a message.'],
      [{ text: ' \n\t\u00a0' }, 'Please write a message.'],
      [{ text: 7 }, 'Please write a message.'],
      [{ text: 'x'.repeat(4001) }, 'Messages can have up to 4,000 characters.'],
      [{ text: 'a\ud83d' }, 'The message contains an incomplete character. Please remove it.'],
      [{ id: 'one' }, 'id must be a UUID'],
    ] as const) {
      const body = {
        id: crypto.randomUUID(),
        text: 'Hello',
        ...fields,
      };
      const refused = await call('POST', '/api/user/chat/messages', {
        token,
        body,
      });
      expect(refused).toMatchObject({
        status: 400,
        body: { code: 'invalid_field', message },
      });
    }
    expect((await readChat(token)).messages).toEqual([]);
  });

  it('keeps its text as it is, whatever visible it contains', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    const breaks = 'a\tb\r\nc\n';
    const rightToLeft = '\u202eevil\u2066\u200f';
    const texts = [
      '<script>alert(1)</script> & "quotes"',
      breaks,
      rightToLeft,
      '語'.repeat(4000),
      '👩‍👩‍👧 ',
    ];
    for (const text of texts) expect((await write(token, text)).body.message.text).toBe(text);
    const accepted = await untilAccepted(phone, texts.length);
    await stream.until(({ messages }) => messages.length === texts.length);
    for (const found of [accepted, stream.messages, (await readChat(token)).messages])
      expect(found.map(({ text }) => text)).toEqual(texts);
  });
});

it('shows the newest messages in pages, or those before one', async () => {
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
  for (const query of [
    'limit=0',
    'limit=51',
    'limit=x',
    'limit=',
    'limit=1.5',
    'before=0',
    'before=-1',
    'before=',
  ]) {
    const refused = await call('GET', `/api/user/chat?${query}`, { token });
    expect(refused, query).toMatchObject({
      status: 400,
      body: { code: 'invalid_field' },
    });
  }
});

describe('the replies of the bot', () => {
  it('are stored once for their id, also when they come fifty times at once, with what they answer', async () => {
    const { phone, token } = await newWriter();
    const message = {
      id: 'reply-1',
      text: 'Please call somebody.',
      replyTo: 'message-1',
      crisis: true,
    };
    const answers = await parallel(50, () =>
      botCall('/api/bot/messages', {
        phone,
        ...message,
      }),
    );
    for (const _ of [1, 2])
      answers.push(await botCall('/api/bot/messages', { phone, ...message }, 'again'));
    expect([...new Set(answers.map(({ text }) => text))]).toEqual([
      '{"success":true,"seq":1,"voice":false}',
    ]);
    await reply(phone, 'Are you safe?', 'reply-2', { crisis: false });
    const [first, next, ...others] = (await readChat(token)).messages;
    expect([first, others]).toMatchObject([message, []]);
    for (const field of ['crisis', 'replyTo']) expect(next).not.toHaveProperty(field);
  });

  it('are refused with another text under their id, or under the id of a message of the user', async () => {
    const { phone, token } = await newWriter();
    await reply(phone, 'One', 'reply-1');
    expect(await reply(phone, 'Two', 'reply-1')).toMatchObject(idReused);
    const { message } = (await write(token, 'Hello')).body;
    expect(await reply(phone, 'Hello', message.id)).toMatchObject(idReused);
    const [first, second] = ['reply-2', 'reply-3'].map((id) => ({
      phone,
      id,
      text: 'x',
    }));
    expect((await botCall('/api/bot/messages', first, 'call-1')).status).toBe(200);
    expect((await botCall('/api/bot/messages', second, 'call-1')).body.code).toBe('id_reused');
  });

  it('need a known number and its consent', async () => {
    const { phone } = await newPerson();
    for (const body of [{ id: 'reply-1', text: 'Hello' }, {}, { text: 'Hello' }]) {
      const path = 'id' in body ? '/api/bot/messages' : '/api/bot/typing';
      const unknown = await botCall(path, {
        phone: '+15559990000',
        ...body,
      });
      expect(unknown).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
      expect(await botCall(path, { phone, ...body })).toMatchObject({
        status: 409,
        body: { code: 'conflict' },
      });
    }
  });

  it('may have 8,000 characters, in bodies of 64 KiB, also while they are written', async () => {
    const { phone, token } = await newWriter();
    const typing = async (body: object) =>
      (await botCall('/api/bot/typing', { phone, ...body })).status;
    const long = '語'.repeat(8000);
    expect([(await reply(phone, long)).status, await typing({ text: long })]).toEqual([200, 200]);
    expect((await readChat(token)).messages[0]!.text).toHaveLength(8000);
    expect((await reply(phone, 'x'.repeat(8001))).body.message).toBe(
      'Messages can have up to 8,000 characters.',
    );
    expect((await reply(phone, 'x'.repeat(65 * 1024))).status).toBe(413);
    for (const id of ['', 'x'.repeat(65), 'with space', 'ünicode'])
      expect((await reply(phone, 'Hello', id)).status, id).toBe(400);
    expect((await reply(phone, ' ')).status).toBe(400);
    for (const wrong of [{ text: 'x'.repeat(8001) }, { text: '' }, { seconds: 31 }])
      expect(await typing(wrong)).toBe(400);
  });
});

it.each(['', '/consent'])(
  'ends the day after a crisis with DELETE /api/user/chat%s',
  async (path) => {
    const { phone, token } = await newWriter();
    await botCall('/api/bot/usage', { phone, count: 5 });
    await reply(phone, 'Please call somebody.', 'crisis-1', { crisis: true });
    expect((await write(token, 'I will')).status).toBe(200);
    await call('DELETE', `/api/user/chat${path}`, { token });
    await consent(token);
    expect((await write(token, 'One more')).body.code).toBe('allowance_spent');
  },
);

describe('limits', () => {
  it('are twenty messages a minute, and a replay is no message', async () => {
    advanceClock(0);
    const { token } = await newWriter();
    const settings = { CHAT_MESSAGES_WAITING: '100' };
    shortenPauses();
    const ids = Array.from({ length: 25 }, () => crypto.randomUUID());
    await parallel(50, (index) => write(token, 'Hello', ids[index % 25], settings));
    const { messages } = await readChat(token, '?limit=50');
    expect(messages.filter(({ author }) => author === 'user')).toHaveLength(20);
    const refused = await write(token, 'One more', undefined, settings);
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited' },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const known = messages.find(({ author }) => author === 'user')!;
    expect((await write(token, 'Hello', known.id, settings)).body.message.seq).toBe(known.seq);
    advanceClock(minute);
    expect((await write(token, 'A minute later', undefined, settings)).status).toBe(200);
  });

  it('are five messages of a user that wait for the bot', async () => {
    const { phone, token } = await newWriter();
    await sandbox.faults({ bot: { status: 503 } });
    const answers = await parallel(50, () => write(token, 'Are you there?'));
    expect(tally(answers)).toEqual({ 200: 5, 429: 45 });
    // The event of a refused message would delay the next ones.
    expect((await outboxOf(phone)).filter((event) => event['message_id'] !== null)).toHaveLength(5);
    const sent = answers.find(({ status }) => status === 200)!.body.message;
    expect((await write(token, 'Are you there?', sent.id)).body.message.id).toBe(sent.id);
    const other = await newWriter();
    expect((await write(other.token, 'Hello', sent.id)).body.message).toMatchObject({
      seq: 1,
      text: 'Hello',
    });
    expect(await outboxOf(other.phone)).toContainEqual(
      expect.objectContaining({ message_id: sent.id }),
    );
  });

  it('count two messages at the edge of the allowance, sent at once, as one: the bot learns it', async () => {
    const { phone, token } = await newWriter();
    await botCall('/api/bot/usage', { phone, count: 4 });
    expect(tally(await parallel(2, (n) => write(token, `Message ${n}`)))).toEqual({ 200: 2 });
    const accepted = await untilAccepted(phone, 2);
    const counted = await parallel(2, (n) =>
      botCall('/api/bot/usage', { phone }, `usage_${accepted[n]!.messageId}`),
    );
    expect(counted.filter(({ body }) => body.allowed)).toHaveLength(1);
    expect((await write(token, 'One more')).body).toMatchObject({
      code: 'allowance_spent',
      used: 5,
    });
  });

  it('are the allowance of the week, but for a day after a crisis', async () => {
    const { phone, token } = await newWriter();
    const known = (await write(token, 'Hello')).body.message;
    await untilReplied({ phone, token }, 1);
    await botCall('/api/bot/usage', { phone, count: 4 });
    const id = crypto.randomUUID();
    const refused = await write(token, 'One more', id);
    expect(await outboxOf(phone)).not.toContainEqual(expect.objectContaining({ message_id: id }));
    const message = "You have used this week's messages.";
    const body = {
      code: 'allowance_spent',
      message,
      used: 5,
      limit: 5,
    };
    expect(refused).toMatchObject({ status: 403, body });
    expect(Date.parse(refused.body.resetsAt)).toBeGreaterThan(Date.now());
    expect((await write(token, 'Hello', known.id)).body.message).toMatchObject({
      id: known.id,
      state: 'delivered',
    });
    await reply(phone, 'Please call somebody.', 'crisis-1', { crisis: true });
    const answer = (await write(token, 'I will')).body.message;
    expect((await write(token, 'I will', answer.id)).body.message.seq).toBe(answer.seq);
    for (let replies = 0; replies < 55; replies += 1) await reply(phone, 'I am here.');
    expect((await write(token, 'Thank you')).status).toBe(200);
    advanceClock(day - minute);
    expect((await write(token, 'Still here')).status, 'a day after a crisis has not passed').toBe(
      200,
    );
    advanceClock(2 * minute);
    await reply(phone, 'Please call somebody.', 'crisis-1', { crisis: true });
    expect((await write(token, 'One more')).body.code).toBe('allowance_spent');
  });
});
