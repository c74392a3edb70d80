import { describe, expect, it } from 'vitest';
import { toBase64 } from '../../worker/lib/crypto.ts';
import { botCall, parallel, invalidField } from './support/api.ts';
import {
  acceptedBy,
  clearChat,
  newWriter,
  readChat,
  reply,
  untilDelivered,
  untilState,
  write,
  idReused,
} from './support/chat.ts';
import {
  bytesOf,
  fetchAsBot,
  fetchRecording,
  newSpeaker,
  recordingOf,
  sendRecording,
} from './support/voice.ts';
import { advanceClock, minute } from './support/clock.ts';
import { newPerson } from './support/person.ts';
import type { Recording } from './support/voice.ts';
import { logLines } from './support/requests.ts';
import { outboxOf } from './support/sandbox.ts';
import { OpenChat } from './support/streams.ts';
import { fullUnless } from '../long-tours.ts';

const types = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg; codecs=opus'];
const largest = 1_900_000;

const bytesFor = async (token: string, id: string) => (await fetchRecording(token, id)).bytes();

/** Whether two recordings are the same; `toEqual` takes seconds for large ones. */
const areSame = (one: Uint8Array, other: Uint8Array) => one.join() === other.join();

describe('a recording', () => {
  for (const type of types)
    it(
      `of ${type} reaches the bot, is read back as it was, no document, and not logged`,
      fullUnless(type === types[0]),
      async () => {
        const { phone, token } = await newSpeaker();
        const stream = await OpenChat.open(token);
        const [id, recording] = [crypto.randomUUID(), recordingOf(type)];
        const sent = await sendRecording(token, recording, {
          id,
          seconds: 7,
        });
        const voice = { seconds: 7, type, bytes: 2000 };
        const message = {
          id,
          seq: 1,
          author: 'user',
          text: '',
          at: expect.any(String),
          state: 'sent',
          voice,
        };
        expect({ status: sent.status, body: sent.body }).toEqual({
          status: 200,
          body: { success: true, message },
        });
        await untilState(token, id, 'delivered');
        expect((await readChat(token)).messages).toEqual([{ ...message, state: 'delivered' }]);
        expect((await acceptedBy(phone))[0]).toMatchObject({
          messageId: id,
          text: '',
          voice,
        });
        await stream.until(({ messages }) => messages.length === 1);
        expect(stream.messages[0]).toMatchObject({ id, voice });
        const response = await fetchRecording(token, id);
        expect(Object.fromEntries(response.headers)).toMatchObject({
          'content-type': type,
          'content-length': '2000',
          'content-disposition': 'attachment',
          'x-content-type-options': 'nosniff',
          'cache-control': 'no-store',
          'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
        });
        for (const each of [response, await fetchAsBot(phone, id)])
          expect(await each.bytes()).toEqual(recording.bytes);
        const log = JSON.stringify(logLines());
        expect(log).toContain('/api/user/chat/voice/:id');
        for (const mark of [id, 'seconds=', 'codecs']) expect(log).not.toContain(mark);
      },
    );

  it('of the largest size is stored, and one byte more is refused', async () => {
    const { token } = await newSpeaker();
    const recording = recordingOf('audio/mp4', largest);
    const { status, body } = await sendRecording(token, recording, { seconds: 120 });
    expect(status).toBe(200);
    expect(areSame(await bytesFor(token, body.message.id), recording.bytes)).toBe(true);
    const larger = await sendRecording(token, recordingOf('audio/mp4', largest + 1));
    expect(larger).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    expect((await readChat(token)).messages).toHaveLength(1);
  });

  it('is the same message when it is sent again, and other content under its id is refused', async () => {
    const { phone, token } = await newSpeaker();
    const [id, recording] = [crypto.randomUUID(), recordingOf('audio/webm')];
    const answers = await parallel(10, () => sendRecording(token, recording, { id }));
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 200,
        body: { message: { id, seq: 1 } },
      });
    expect(await sendRecording(token, recordingOf('audio/webm'), { id })).toMatchObject(idReused);
    expect(await write(token, 'A text', id)).toMatchObject(idReused);
    const text = await write(token, 'Another text');
    expect(await sendRecording(token, recording, { id: text.body.message.id })).toMatchObject(
      idReused,
    );
    await untilDelivered(phone);
    expect(await acceptedBy(phone)).toHaveLength(2);
  });

  it('that is none, of another type, or too long is refused and leaves nothing', async () => {
    const { phone, token } = await newSpeaker();
    const mp4 = recordingOf('audio/mp4');
    const page = bytesOf('<!doctype html><script>');
    const refusals: [status: number, code: string, recording: Recording, seconds?: string][] = [
      [400, 'invalid_body', { ...mp4, bytes: new Uint8Array() }],
      [400, 'invalid_body', { ...mp4, bytes: page }],
      [400, 'invalid_body', { ...mp4, type: 'audio/ogg' }],
      [415, 'not_audio', { ...mp4, type: 'audio/mpeg' }],
      [415, 'not_audio', { ...mp4, type: 'audio/mp4, text/html' }],
      [400, 'invalid_field', mp4, ''],
      [400, 'invalid_field', mp4, '121'],
    ];
    for (const [status, code, recording, seconds = '4'] of refusals)
      expect(await sendRecording(token, recording, { seconds })).toMatchObject({
        status,
        body: { code },
      });
    expect((await readChat(token)).messages).toEqual([]);
    await untilDelivered(phone);
    expect(await acceptedBy(phone)).toEqual([]);
  });

  it('needs consent, voice in the plan, and an allowance', async () => {
    const recording = recordingOf('audio/webm');
    const send = async ({ token }: { token: string }) =>
      (await sendRecording(token, recording)).body;
    expect((await send(await newPerson())).code).toBe('consent_needed');
    const message = 'Voice messages are part of the Basic plan and above.';
    const writer = await newWriter();
    expect(await send(writer)).toMatchObject({
      code: 'voice_not_in_plan',
      message,
    });
    for (const event of await outboxOf(writer.phone)) expect(event['message_id']).toBeNull();
    const speaker = await newSpeaker();
    await botCall('/api/bot/usage', {
      phone: speaker.phone,
      count: 70,
      kind: 'voice',
    });
    expect(await send(speaker)).toMatchObject({
      code: 'allowance_spent',
      limit: 70,
    });
  });

  it('shares the limit of text: it is stored whole or refused, and a refused one can be sent again', async () => {
    advanceClock(0);
    const { phone, token } = await newSpeaker();
    const [id, recording] = [crypto.randomUUID(), recordingOf('audio/webm')];
    const settings = { CHAT_MESSAGES_PER_MINUTE: '2' };
    await write(token, 'One', undefined, settings);
    expect((await sendRecording(token, recording, { settings })).status).toBe(200);
    expect(
      (
        await sendRecording(token, recording, {
          id,
          settings,
        })
      ).status,
    ).toBe(429);
    expect((await fetchRecording(token, id)).status).toBe(404);
    await untilDelivered(phone);
    advanceClock(2 * minute);
    expect((await sendRecording(token, recording, { id })).status).toBe(200);
    expect(await bytesFor(token, id)).toEqual(recording.bytes);
    expect((await readChat(token)).messages).toHaveLength(3);
  });

  it("is nobody else's, also under the same id, and gone when the conversation is cleared", async () => {
    const [{ phone, token }, other] = [await newSpeaker(), await newSpeaker()];
    const id = crypto.randomUUID();
    const [first, second] = [recordingOf('audio/ogg'), recordingOf('audio/mp4')];
    expect((await sendRecording(token, first, { id })).status).toBe(200);
    for (const each of [await fetchRecording(other.token, id), await fetchAsBot(other.phone, id)]) {
      expect(each.status).toBe(404);
      expect(await each.json()).toMatchObject({
        success: false,
        code: 'not_found',
      });
    }
    expect((await sendRecording(other.token, second, { id })).body.message).toMatchObject({
      id,
      seq: 1,
    });
    expect(await bytesFor(token, id)).toEqual(first.bytes);
    const text = await write(token, 'Text');
    for (const unknown of [crypto.randomUUID(), text.body.message.id])
      expect((await fetchRecording(token, unknown)).status).toBe(404);
    await clearChat(token);
    for (const each of [await fetchRecording(token, id), await fetchAsBot(phone, id)])
      expect(each.status).toBe(404);
    expect(await bytesFor(other.token, id)).toEqual(second.bytes);
  });
});

describe('a transcript', () => {
  it('is the text of its message, and the next one replaces it', async () => {
    const { phone, token } = await newSpeaker();
    const { id, voice } = (await sendRecording(token, recordingOf('audio/webm'))).body.message;
    await untilState(token, id, 'delivered');
    const stream = await OpenChat.open(token);
    for (const text of ['I slept badly.', 'I slept well.']) {
      expect(
        (
          await botCall('/api/bot/transcripts', {
            phone,
            id,
            text,
          })
        ).body,
      ).toEqual({
        success: true,
      });
      expect((await readChat(token)).messages).toEqual([
        expect.objectContaining({ id, seq: 1, text, voice }),
      ]);
      await stream.until(({ messages }) => messages.some((message) => message.text === text));
    }
    expect((await fetchRecording(token, id)).status).toBe(200);
  });

  it('is refused for an unknown message, a text, a reply, and without consent', async () => {
    const { phone, token } = await newSpeaker();
    const transcribe = async (id: string, number = phone) =>
      (
        await botCall('/api/bot/transcripts', {
          phone: number,
          id,
          text: 'Said',
        })
      ).status;
    const { body } = await write(token, 'A text');
    await reply(phone, 'A reply', 'reply-1');
    for (const id of ['unknown', body.message.id, 'reply-1'])
      expect(await transcribe(id), id).toBe(404);
    expect(await transcribe('any', '+15550009999')).toBe(404);
    expect(await transcribe('any', (await newPerson()).phone)).toBe(409);
    expect((await readChat(token)).messages.map(({ text }) => text)).toEqual(['A text', 'A reply']);
  });
});

describe('a reply with a voice', () => {
  const voiceOf = ({ type, bytes }: Recording) => ({
    type,
    seconds: 3,
    data: toBase64(bytes.buffer),
  });

  it('is a text and a recording, once for its id', async () => {
    const { phone, token } = await newSpeaker();
    const recording = recordingOf('audio/ogg;codecs=opus');
    const voice = voiceOf(recording);
    const first = await reply(phone, 'Breathe with me.', 'reply-1', { voice });
    expect(first).toMatchObject({
      status: 200,
      body: {
        success: true,
        seq: 1,
        voice: true,
      },
    });
    expect((await reply(phone, 'Breathe with me.', 'reply-1', { voice })).body).toEqual(first.body);
    expect((await reply(phone, 'Another text.', 'reply-1', { voice })).status).toBe(409);
    const stored = { seconds: 3, type: recording.type, bytes: 2000 };
    const { messages } = await readChat(token);
    expect(messages).toMatchObject([
      {
        id: 'reply-1',
        text: 'Breathe with me.',
        voice: stored,
      },
    ]);
    expect(await bytesFor(token, 'reply-1')).toEqual(recording.bytes);
    expect((await fetchAsBot(phone, 'reply-1')).status).toBe(404);
  });

  it('of the largest size is taken, and is text alone without voice in the plan', async () => {
    const { phone, token } = await newWriter();
    const recording = recordingOf('audio/ogg', largest);
    const voice = voiceOf(recording);
    expect((await reply(phone, 'Hello', 'reply-1', { voice })).body).toEqual({
      success: true,
      seq: 1,
      voice: false,
    });
    expect((await readChat(token)).messages[0]).not.toHaveProperty('voice');
    const speaker = await newSpeaker();
    expect((await reply(speaker.phone, 'Hello', 'reply-1', { voice })).body.voice).toBe(true);
    expect(areSame(await bytesFor(speaker.token, 'reply-1'), recording.bytes)).toBe(true);
  });

  it('with a broken recording is refused and leaves nothing', async () => {
    const { phone, token } = await newSpeaker();
    const good = voiceOf(recordingOf('audio/ogg'));
    const bad: [object, path: string][] = [
      [{ data: '!!!not base64' }, 'voice.data'],
      [{ data: `${good.data.slice(0, 5)}=${good.data.slice(5)}` }, 'voice.data'],
      [{ data: '' }, 'voice.data'],
      [{ type: 'audio/webm' }, 'voice.data'],
      [{ type: 'text/html' }, 'voice.type'],
      [{ seconds: 121 }, 'voice.seconds'],
    ];
    for (const [wrong, path] of bad) {
      const answer = await reply(phone, 'Hello', 'reply-1', {
        voice: {
          ...good,
          ...wrong,
        },
      });
      expect(answer).toMatchObject(invalidField(path));
    }
    expect((await reply(phone, 'x'.repeat(66_000), 'reply-1')).status).toBe(413);
    expect((await readChat(token)).messages).toEqual([]);
  });
});
