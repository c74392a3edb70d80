import { describe, expect, it } from 'vitest';
import { botCall, call, parallel } from './support/api.ts';
import {
  untilDelivered,
  untilState,
  acceptedBy,
  consent,
  newWriter,
  readChat,
  reply,
  write,
  bytesOf,
  fetchAsBot,
  fetchRecording,
  newSpeaker,
  readBytes,
  recordingOf,
  sendRecording,
  type Recording,
} from './support/chat.ts';
import { advanceClock, minute, eventually } from './support/clock.ts';
import { logLines } from './support/log.ts';
import { newPerson } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import { OpenChat } from './support/streams.ts';

const types = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg; codecs=opus'];
const largest = 1_900_000;

describe('a recording', () => {
  it.each(types)('of %s is a message, reaches the bot, and is read back as it was', async (type) => {
    const { phone, token } = await newSpeaker();
    const stream = await OpenChat.open(token);
    const [id, recording] = [crypto.randomUUID(), recordingOf(type)];
    const sent = await sendRecording(token, recording, { id, seconds: 7 });
    const voice = { seconds: 7, type, bytes: 2000 };
    const message = { id, seq: 1, author: 'user', text: '', at: expect.any(String), state: 'sent', voice };
    expect({ status: sent.status, body: sent.body }).toEqual({ status: 200, body: { success: true, message } });
    await untilState(token, id, 'delivered');
    expect((await readChat(token)).messages).toEqual([{ ...message, state: 'delivered' }]);
    const [data] = await acceptedBy(phone);
    expect(data).toMatchObject({ messageId: id, text: '', voice });
    await stream.until(({ messages }) => messages.length === 1);
    expect(stream.messages[0]).toMatchObject({ id, voice });
    stream.close();
    const bytes = new Uint8Array(recording.bytes);
    expect(await readBytes(await fetchRecording(token, id))).toEqual(bytes);
    expect(await readBytes(await fetchAsBot(phone, id))).toEqual(bytes);
  });

  it('is never a document, and is not cached', async () => {
    const { token } = await newSpeaker();
    const { body } = await sendRecording(token, recordingOf('audio/ogg'));
    const response = await fetchRecording(token, body.message.id);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'audio/ogg',
      'content-length': '2000',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    });
    await response.body?.cancel();
  });

  it('of the largest size is stored, and one byte more is refused', async () => {
    const { token } = await newSpeaker();
    const recording = recordingOf('audio/mp4', largest);
    const { status, body } = await sendRecording(token, recording, { seconds: 120 });
    expect(status).toBe(200);
    const read = await readBytes(await fetchRecording(token, body.message.id));
    expect(read.byteLength).toBe(largest);
    expect(await hashOf(read)).toBe(await hashOf(new Uint8Array(recording.bytes)));
    const larger = await sendRecording(token, recordingOf('audio/mp4', largest + 1));
    expect({ status: larger.status, code: larger.body.code }).toEqual({ status: 413, code: 'body_too_large' });
    expect((await readChat(token)).messages).toHaveLength(1);
  });

  it('is the same message when it is sent again, and other content under its id is refused', async () => {
    const { phone, token } = await newSpeaker();
    const [id, recording] = [crypto.randomUUID(), recordingOf('audio/webm')];
    const answers = await parallel(10, () => sendRecording(token, recording, { id }));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.message).toMatchObject({ id, seq: 1 });
    }
    const refused = { status: 409, body: { success: false, code: 'id_reused', message: 'Message id already used' } };
    const { status, body } = await sendRecording(token, recordingOf('audio/webm'), { id });
    expect({ status, body }).toEqual(refused);
    expect((await write(token, 'A text', id)).status).toBe(409);
    const text = await write(token, 'Another text');
    expect((await sendRecording(token, recording, { id: text.body.message.id })).status).toBe(409);
    await untilDelivered(phone);
    expect(await acceptedBy(phone)).toHaveLength(2);
  });

  it('is sent again under its id after the bot has refused it', async () => {
    const { phone, token } = await newSpeaker();
    const [id, recording] = [crypto.randomUUID(), recordingOf('audio/webm')];
    await sandbox.botMode('refuse', phone);
    await sendRecording(token, recording, { id });
    await untilState(token, id, 'failed');
    await sandbox.botMode('accept', phone);
    expect((await sendRecording(token, recording, { id })).body.message.state).toBe('sent');
    await untilState(token, id, 'delivered');
    expect(await readBytes(await fetchAsBot(phone, id))).toEqual(new Uint8Array(recording.bytes));
  });

  it.each<[name: string, status: number, code: string, recording: Recording, seconds?: string]>([
    ['nothing', 400, 'invalid_body', { type: 'audio/webm', bytes: new ArrayBuffer(0) }],
    ['a picture', 400, 'invalid_body', { type: 'audio/webm', bytes: bytesOf('\x89PNG\r\n\x1a\n and more').buffer }],
    ['a page', 400, 'invalid_body', { type: 'audio/ogg', bytes: bytesOf('<!doctype html><script>').buffer }],
    ['another container', 400, 'invalid_body', { ...recordingOf('audio/mp4'), type: 'audio/ogg' }],
    ['a type that no page records', 415, 'not_audio', { ...recordingOf('audio/mp4'), type: 'audio/mpeg' }],
    ['a document', 415, 'not_audio', { ...recordingOf('audio/mp4'), type: 'text/html' }],
    [
      'a type with more than parameters',
      415,
      'not_audio',
      { ...recordingOf('audio/mp4'), type: 'audio/mp4, text/html' },
    ],
    ['no seconds', 400, 'invalid_field', recordingOf('audio/mp4'), ''],
    ['too many seconds', 400, 'invalid_field', recordingOf('audio/mp4'), '121'],
    ['half a second', 400, 'invalid_field', recordingOf('audio/mp4'), '0.5'],
  ])('of %s is refused with %i and leaves nothing', async (_, status, code, recording, seconds = '4') => {
    const { phone, token } = await newSpeaker();
    const answer = await sendRecording(token, recording, { seconds });
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
    expect((await readChat(token)).messages).toEqual([]);
    await untilDelivered(phone);
    expect(await acceptedBy(phone)).toEqual([]);
  });

  it('needs consent, voice in the plan, and an allowance', async () => {
    const recording = recordingOf('audio/webm');
    const { token } = await newPerson();
    expect((await sendRecording(token, recording)).body.code).toBe('consent_needed');
    await consent(token);
    expect((await sendRecording(token, recording)).body).toEqual({
      success: false,
      code: 'voice_not_in_plan',
      message: 'Voice messages are part of the Basic plan and above.',
    });
    const speaker = await newSpeaker();
    await botCall('/api/bot/usage', { phone: speaker.phone, count: 70, kind: 'voice' });
    expect((await sendRecording(speaker.token, recording)).body).toMatchObject({ code: 'allowance_spent', limit: 70 });
  });

  it('shares the limits of text', async () => {
    const { phone, token } = await newSpeaker();
    const recording = recordingOf('audio/webm');
    const settings = { CHAT_MESSAGES_PER_MINUTE: '2', CHAT_MESSAGES_WAITING: '5' };
    await write(token, 'One', undefined, settings);
    expect((await sendRecording(token, recording, { settings })).status).toBe(200);
    expect((await sendRecording(token, recording, { settings })).status).toBe(429);
    await untilDelivered(phone);
    advanceClock(2 * minute);
    await sandbox.botMode('silent', phone);
    for (const _ of Array.from({ length: 5 })) expect((await sendRecording(token, recording)).status).toBe(200);
    expect((await sendRecording(token, recording)).status).toBe(429);
  });

  it('of twenty at once is stored whole or refused, and the refused ones can be sent again', async () => {
    const { phone, token } = await newSpeaker();
    const sent = Array.from({ length: 20 }, () => ({ id: crypto.randomUUID(), recording: recordingOf('audio/ogg') }));
    const send = ({ id, recording }: (typeof sent)[number]) => sendRecording(token, recording, { id });
    const answers = await Promise.all(sent.map(send));
    for (const { status, headers } of answers) {
      expect([200, 429]).toContain(status);
      if (status === 429) expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
    const refused = sent.filter((_, index) => answers[index]!.status === 429);
    const stored = (await readChat(token)).messages.map(({ id }) => id);
    expect(new Set(stored)).toEqual(new Set(sent.filter((each) => !refused.includes(each)).map(({ id }) => id)));
    expect(stored).toHaveLength(20 - refused.length);
    for (const { id } of refused) expect((await fetchRecording(token, id)).status).toBe(404);
    await untilDelivered(phone);
    advanceClock(2 * minute);
    for (const each of refused) {
      expect((await send(each)).status).toBe(200);
      await untilDelivered(phone);
    }
    for (const { id, recording } of sent)
      expect(await readBytes(await fetchRecording(token, id))).toEqual(new Uint8Array(recording.bytes));
    expect(new Set((await acceptedBy(phone)).map(({ messageId }) => messageId))).toEqual(
      new Set(sent.map(({ id }) => id)),
    );
  });

  it("does not change another person's message of the same id", async () => {
    const [one, other] = [await newSpeaker(), await newSpeaker()];
    const id = crypto.randomUUID();
    const [first, second] = [recordingOf('audio/ogg'), recordingOf('audio/mp4')];
    expect((await sendRecording(one.token, first, { id })).status).toBe(200);
    expect((await sendRecording(other.token, second, { id })).body.message).toMatchObject({ id, seq: 1 });
    expect(await readBytes(await fetchRecording(one.token, id))).toEqual(new Uint8Array(first.bytes));
    expect(await readBytes(await fetchRecording(other.token, id))).toEqual(new Uint8Array(second.bytes));
  });

  it("is nobody else's, and gone when the conversation is cleared", async () => {
    const { phone, token } = await newSpeaker();
    const { body } = await sendRecording(token, recordingOf('audio/webm'));
    const { id } = body.message;
    const other = await newSpeaker();
    const others = [
      await fetchRecording(other.token, id),
      await fetchAsBot(other.phone, id),
      await fetchRecording(token, crypto.randomUUID()),
      await fetchRecording(token, (await write(token, 'Text')).body.message.id),
    ];
    for (const each of others) {
      expect(each.status).toBe(404);
      expect(await each.json()).toMatchObject({ success: false, code: 'not_found' });
    }
    await call('DELETE', '/api/user/chat', { token });
    const cleared = [await fetchRecording(token, id), await fetchAsBot(phone, id)];
    for (const each of cleared) expect(each.status, await each.text()).toBe(404);
    await call('DELETE', '/api/user/chat/consent', { token });
    expect((await fetchRecording(token, id)).status).toBe(404);
  });

  it('stands in no line of the log', async () => {
    const { token } = await newSpeaker();
    const recording = recordingOf('audio/webm;codecs=opus');
    const { body } = await sendRecording(token, recording, { seconds: 97 });
    await (await fetchRecording(token, body.message.id)).arrayBuffer();
    const text = JSON.stringify(logLines());
    expect(text).toContain('/api/user/chat/voice/:id');
    for (const mark of [body.message.id, 'seconds=', 'codecs']) expect(text).not.toContain(mark);
  });
});

describe('a transcript', () => {
  it('is the text of its message, and the next one replaces it', async () => {
    const { phone, token } = await newSpeaker();
    const { body } = await sendRecording(token, recordingOf('audio/webm'));
    const { id, voice } = body.message;
    await untilState(token, id, 'delivered');
    const stream = await OpenChat.open(token);
    for (const text of ['I slept badly.', 'I slept well.']) {
      expect((await botCall('/api/bot/transcripts', { phone, id, text })).body).toEqual({ success: true });
      expect((await readChat(token)).messages).toEqual([expect.objectContaining({ id, seq: 1, text, voice })]);
      await stream.until(({ messages }) => messages.some((message) => message.text === text));
    }
    stream.close();
    expect((await fetchRecording(token, id)).status).toBe(200);
  });

  it('is refused for an unknown message, a text, a reply, and without consent', async () => {
    const { phone, token } = await newSpeaker();
    const transcribe = async (id: string, number = phone) =>
      (await botCall('/api/bot/transcripts', { phone: number, id, text: 'Said' })).status;
    const { body } = await write(token, 'A text');
    await reply(phone, 'A reply', 'reply-1');
    for (const id of ['unknown', body.message.id, 'reply-1']) expect(await transcribe(id), id).toBe(404);
    expect(await transcribe('any', '+15550009999')).toBe(404);
    expect(await transcribe('any', (await newPerson()).phone)).toBe(409);
    expect((await readChat(token)).messages.map(({ text }) => text)).toEqual(['A text', 'A reply']);
  });
});

describe('a reply with a voice', () => {
  const voiceOf = ({ type, bytes }: Recording) => ({
    type,
    seconds: 3,
    data: btoa(String.fromCharCode(...new Uint8Array(bytes))),
  });

  it('is a text and a recording, once for its id', async () => {
    const { phone, token } = await newSpeaker();
    const recording = recordingOf('audio/ogg;codecs=opus');
    const voice = voiceOf(recording);
    const first = await reply(phone, 'Breathe with me.', 'reply-1', { voice });
    expect({ status: first.status, body: first.body }).toEqual({
      status: 200,
      body: { success: true, seq: 1, voice: true },
    });
    expect((await reply(phone, 'Breathe with me.', 'reply-1', { voice })).body).toEqual(first.body);
    expect((await reply(phone, 'Another text.', 'reply-1', { voice })).status).toBe(409);
    const { messages } = await readChat(token);
    expect(messages).toMatchObject([
      { id: 'reply-1', text: 'Breathe with me.', voice: { seconds: 3, type: recording.type, bytes: 2000 } },
    ]);
    expect(await readBytes(await fetchRecording(token, 'reply-1'))).toEqual(new Uint8Array(recording.bytes));
    expect((await fetchAsBot(phone, 'reply-1')).status).toBe(404);
  });

  it('of the largest size is taken, and is text alone without voice in the plan', async () => {
    const { phone, token } = await newWriter();
    const { bytes } = recordingOf('audio/ogg', largest);
    let data = '';
    for (let at = 0; at < largest; at += 30_000)
      data += voiceOf({ type: '', bytes: bytes.slice(at, at + 30_000) }).data;
    const voice = { type: 'audio/ogg', seconds: 120, data };
    expect((await reply(phone, 'Hello', 'reply-1', { voice })).body).toEqual({ success: true, seq: 1, voice: false });
    expect((await readChat(token)).messages[0]).not.toHaveProperty('voice');
    const speaker = await newSpeaker();
    expect((await reply(speaker.phone, 'Hello', 'reply-1', { voice })).body.voice).toBe(true);
    const read = await readBytes(await fetchRecording(speaker.token, 'reply-1'));
    expect(await hashOf(read)).toBe(await hashOf(new Uint8Array(bytes)));
  });

  it('with a broken recording is refused and leaves nothing', async () => {
    const { phone, token } = await newSpeaker();
    const good = voiceOf(recordingOf('audio/ogg'));
    const bad: [object, string][] = [
      [{ ...good, data: '!!!not base64' }, 'voice.data'],
      [{ ...good, data: `${good.data.slice(0, 5)}=${good.data.slice(5)}` }, 'voice.data'],
      [{ ...good, type: 'audio/webm' }, 'voice.data'],
      [{ ...good, type: 'text/html' }, 'voice.type'],
      [{ ...good, seconds: 121 }, 'voice.seconds'],
      [{ ...good, data: '' }, 'voice.data'],
    ];
    for (const [voice, path] of bad) {
      const { status, body } = await reply(phone, 'Hello', 'reply-1', { voice });
      expect({ status, code: body.code, path: body.issues[0].path }).toEqual({
        status: 400,
        code: 'invalid_field',
        path,
      });
    }
    const { status } = await reply(phone, 'x'.repeat(33_000), 'reply-1');
    expect(status).toBe(413);
    expect((await readChat(token)).messages).toEqual([]);
  });
});

describe('a reply that is being written', () => {
  const type = (phone: string, body: object) => botCall('/api/bot/typing', { phone, ...body });

  it('is shown as far as it is, also to who connects in the middle, until the message comes', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    const texts = () => stream.events.filter(({ type }) => type === 'typing').map(({ text }) => text);
    await type(phone, { text: 'I hear' });
    await type(phone, { text: 'I hear you' });
    await stream.until(() => texts().length === 2);
    expect(texts()).toEqual(['I hear', 'I hear you']);
    const late = await OpenChat.open(token);
    await late.until(({ events }) => events.length > 0);
    expect(late.events).toEqual([{ type: 'typing', until: expect.any(String), text: 'I hear you' }]);
    expect((await readChat(token)).messages).toEqual([]);
    await reply(phone, 'I hear you.', 'reply-1');
    await eventually(() => expect(stream.events.at(-1)).toEqual({ type: 'typing', until: null }));
    const after = await OpenChat.open(token, 0);
    await after.until(({ messages }) => messages.length === 1);
    expect(after.events.filter(({ type }) => type === 'typing')).toEqual([]);
    for (const each of [stream, late, after]) each.close();
  });

  it('needs a text of up to 8,000 characters, a known number and consent', async () => {
    const { phone } = await newWriter();
    expect((await type(phone, { text: 'ü'.repeat(8000) })).status).toBe(200);
    expect((await type(phone, { text: 'x'.repeat(8001) })).status).toBe(400);
    expect((await type(phone, { text: '' })).status).toBe(400);
    expect((await type('+15550009999', { text: 'Hello' })).status).toBe(404);
    expect((await type((await newPerson()).phone, { text: 'Hello' })).status).toBe(409);
  });
});

async function hashOf(bytes: Uint8Array): Promise<string> {
  return [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].join();
}
