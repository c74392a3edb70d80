import { describe, expect, it } from 'vitest';
import { botCall } from './support/api.ts';
import { newWriter, readChat, reply, write } from './support/chat.ts';
import { parallel } from './support/parallel.ts';
import { newPerson } from './support/person.ts';

describe('the replies of the bot', () => {
  it('are stored once for their id, also when they come twice at once', async () => {
    const { phone, token } = await newWriter();
    const answers = await parallel(50, () => reply(phone, 'I hear you.', 'reply-1'));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set(['200 {"success":true,"seq":1}']),
    );
    const body = { phone, id: 'reply-1', text: 'I hear you.' };
    expect((await botCall('/api/bot/messages', body, 'again')).body).toEqual({ success: true, seq: 1 });
    expect((await botCall('/api/bot/messages', body, 'again')).body).toEqual({ success: true, seq: 1 });
    expect((await readChat(token)).messages).toHaveLength(1);
  });

  it('are refused with another text under their id, or under the id of a message of the user', async () => {
    const { phone, token } = await newWriter();
    await reply(phone, 'One', 'reply-1');
    const refused = { status: 409, body: { success: false, code: 'id_reused', message: 'Message id already used' } };
    expect(await reply(phone, 'Two', 'reply-1')).toMatchObject(refused);
    const { message } = (await write(token, 'Hello')).body;
    expect(await reply(phone, 'Hello', message.id)).toMatchObject(refused);
    const again = await botCall('/api/bot/messages', { phone, id: 'reply-2', text: 'x' }, 'call-1');
    expect(again.status).toBe(200);
    expect((await botCall('/api/bot/messages', { phone, id: 'reply-3', text: 'x' }, 'call-1')).body).toMatchObject({
      code: 'id_reused',
      message: 'Event id already used with a different body or path',
    });
  });

  it('need a known number and its consent', async () => {
    const { phone } = await newPerson();
    for (const path of ['/api/bot/messages', '/api/bot/typing']) {
      const body = path.endsWith('typing') ? {} : { id: 'reply-1', text: 'Hello' };
      expect(await botCall(path, { phone: '+15559990000', ...body })).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
      expect(await botCall(path, { phone, ...body })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    }
  });

  it('carry what they answer and whether they are about a crisis', async () => {
    const { phone, token } = await newWriter();
    await reply(phone, 'Please call somebody.', 'reply-1', { replyTo: 'message-1', crisis: true });
    await reply(phone, 'Are you safe?', 'reply-2', { crisis: false });
    const [first, next] = (await readChat(token)).messages;
    expect(first).toMatchObject({ replyTo: 'message-1', crisis: true });
    expect(next).not.toHaveProperty('crisis');
    expect(next).not.toHaveProperty('replyTo');
  });

  it('may have 8,000 characters, in bodies of 32 KiB', async () => {
    const { phone, token } = await newWriter();
    expect((await reply(phone, '語'.repeat(8000))).status).toBe(200);
    expect((await readChat(token)).messages[0]!.text).toHaveLength(8000);
    expect((await reply(phone, 'x'.repeat(8001))).body.message).toBe('Messages can have up to 8,000 characters.');
    expect((await reply(phone, 'x'.repeat(33 * 1024))).status).toBe(413);
    for (const id of ['', 'x'.repeat(65), 'with space', 'ünicode', 7]) {
      expect((await botCall('/api/bot/messages', { phone, id, text: 'Hello' })).status, String(id)).toBe(400);
    }
    expect((await botCall('/api/bot/messages', { phone, id: 'a', text: ' ' })).status).toBe(400);
    expect((await botCall('/api/bot/typing', { phone, seconds: 31 })).status).toBe(400);
  });
});
