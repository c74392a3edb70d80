import { describe, expect, it } from 'vitest';
import { endpoints } from '../../worker/contract/endpoints.ts';
import { botHeaders, call, send } from './support/api.ts';
import { consent, newWriter, readChat, reply, textsOf, write } from './support/chat.ts';
import { exportOf, newPerson } from './support/person.ts';
import { OpenStream, ticketOf } from './support/streams.ts';
import { newSpeaker, recordingOf, sendRecording } from './support/voice.ts';

/** JSON whose characters outside ASCII, and the slash, are escaped, as many bots write it. */
function escaped(value: unknown): string {
  const escape = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value)
    .replaceAll('/', String.raw`\/`)
    .replaceAll(/[\u0080-\uffff]/g, escape);
}

const asBot = (path: string, body: object) => {
  const text = escaped(body);
  return call('POST', path, { text, headers: botHeaders(text) });
};

describe('a body accepts, however JSON spells it,', () => {
  const texts = ['я'.repeat(8000), '漢'.repeat(8000), '😀'.repeat(4000)];

  it.each(texts)('a reply and a growing reply of 8,000 units, case %#', async (text) => {
    const { phone, token } = await newWriter();
    const id = crypto.randomUUID();
    expect(
      (
        await asBot('/api/bot/typing', {
          phone,
          text,
        })
      ).status,
    ).toBe(200);
    expect(
      (
        await asBot('/api/bot/messages', {
          phone,
          id,
          text,
        })
      ).status,
    ).toBe(200);
    expect(await textsOf({ token })).toEqual([text]);
  });

  it('a message of a person, and the transcript of a recording', async () => {
    const { phone, token } = await newSpeaker();
    const text = escaped({
      id: crypto.randomUUID(),
      text: 'я'.repeat(4000),
    });
    expect(
      (
        await call('POST', '/api/user/chat/messages', {
          token,
          text,
        })
      ).status,
    ).toBe(200);
    const id = crypto.randomUUID();
    await sendRecording(token, recordingOf('audio/webm'), { id });
    const transcript = { phone, id, text: '漢'.repeat(4000) };
    expect((await asBot('/api/bot/transcripts', transcript)).status).toBe(200);
  });

  it('a reply with the largest recording, whose base64 has slashes', async () => {
    const { phone } = await newSpeaker();
    const { bytes } = recordingOf('audio/webm', 1_900_000);
    const data = (bytes as unknown as { toBase64(): string }).toBase64();
    const voice = { type: 'audio/webm', seconds: 100, data };
    const id = crypto.randomUUID();
    const sent = await asBot('/api/bot/messages', {
      phone,
      id,
      text: 'я'.repeat(8000),
      voice,
    });
    expect(sent).toMatchObject({ status: 200, body: { voice: true } });
  });

  it('nothing larger than what the fields allow', async () => {
    const { phone, token } = await newWriter();
    const large = {
      phone,
      id: 'large',
      text: 'x'.repeat(65 * 1024),
    };
    expect((await asBot('/api/bot/messages', large)).status).toBe(413);
    expect(
      (
        await asBot('/api/bot/typing', {
          phone,
          text: large.text,
        })
      ).status,
    ).toBe(413);
    const message = {
      id: crypto.randomUUID(),
      text: 'x'.repeat(33 * 1024),
    };
    expect(
      (
        await call('POST', '/api/user/chat/messages', {
          token,
          body: message,
        })
      ).status,
    ).toBe(413);
  });
});

describe('a text of nothing visible', () => {
  const invisible = [
    '\u200b',
    '\u2800',
    '\u3164',
    '\u180e',
    '\u00ad\u2060',
    '\u202e',
    '\u115f\u1160',
    '\uffa0',
    '\ufe0f',
    '\u{e0020}',
    '\u200d',
    '\u3000\u00a0\u2003',
    '\u0000',
    '\u0007',
    '\u0085',
    '\n\t \u200b\u2800',
  ];

  it('is refused like an empty one, from people and from the bot', async () => {
    const { phone, token } = await newWriter();
    const empty = {
      status: 400,
      body: { code: 'invalid_field', message: 'Please write a message.' },
    };
    for (const text of invisible) {
      expect(await write(token, text), JSON.stringify(text)).toMatchObject(empty);
      expect(await reply(phone, text), JSON.stringify(text)).toMatchObject(empty);
      expect(
        await asBot('/api/bot/typing', {
          phone,
          text,
        }),
      ).toMatchObject(empty);
    }
    expect((await readChat(token)).messages).toEqual([]);
  });

  it('is not one with a visible character, whatever stands around it', async () => {
    const { token } = await newWriter();
    for (const text of ['👩‍👩‍👧', '\u200dحبّ', '❤️', '.'])
      expect((await write(token, text)).status, text).toBe(200);
  });

  it('control characters are dropped, line breaks and tabs stay', async () => {
    const { phone, token } = await newWriter();
    const id = crypto.randomUUID();
    const sent = await write(token, 'One\u0007\ttwo\r\nthree\u0000\n\u001bfour', id);
    expect(sent.body.message.text).toBe('One\ttwo\r\nthree\nfour');
    expect((await write(token, 'One\ttwo\r\nthree\nfour', id)).status).toBe(200);
    await reply(phone, 'Yes\u0000, I\u0085 hear you.');
    expect((await textsOf({ token }))[1]).toBe('Yes, I hear you.');
  });
});

describe('HEAD', () => {
  const head = (path: string, token?: string) =>
    send(path, {
      method: 'HEAD',
      headers: token ? { authorization: `Bearer ${token}` } : {},
    });

  it('of a stream takes no place and no ticket', async () => {
    const { token } = await newPerson();
    await consent(token);
    const stream = await OpenStream.opened(token);
    const ticket = await ticketOf(token);
    for (const path of ['/api/user/usage-stream', '/api/user/chat-stream'])
      for (let count = 0; count < 12; count += 1) {
        const { status, headers } = await head(`${path}?token=${ticket}`);
        expect([status, headers.get('allow')]).toEqual([405, 'GET']);
      }
    await write(token, 'Hello');
    await OpenStream.opened(ticket);
    expect(stream.ended).toBe(false);
  });

  it('of the export counts nothing', async () => {
    const { token } = await newPerson();
    for (let count = 0; count < 6; count += 1)
      expect((await head('/api/user/export', token)).status).toBe(405);
    expect((await exportOf(token)).status).toBe(200);
  });

  it('of a recording is refused, of health it is what it was', async () => {
    const { token } = await newSpeaker();
    const id = crypto.randomUUID();
    await sendRecording(token, recordingOf('audio/webm'), { id });
    const refused = await head(`/api/user/chat/voice/${id}`, token);
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET']);
    expect((await head('/api/health')).status).toBe(200);
  });

  it('is refused by every call that returns no JSON', () => {
    const files = Object.values(endpoints).filter(
      (each) => each.method === 'GET' && each.access !== 'public' && !('output' in each),
    );
    const open = files.filter((each) => !('noHead' in each)).map(({ path }) => path);
    expect(open).toEqual([]);
  });
});
