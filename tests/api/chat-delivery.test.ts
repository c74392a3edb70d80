import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { retryParked } from '../../worker/operations/support/parked-events.ts';
import { openDatabase } from '../../worker/platform/database.ts';
import { settingsOf } from '../../worker/settings.ts';
import { botCall, call, vars } from './support/api.ts';
import { acceptedBy, newWriter, OpenChat, readChat, reply, write } from './support/chat.ts';
import { advanceClock, day, minute, second } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { parallel } from './support/parallel.ts';
import { newPerson } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

const stateOf = async (token: string, id: string) =>
  (await readChat(token)).messages.find((message) => message.id === id)?.state;
const untilState = (token: string, id: string, state: string) =>
  vi.waitFor(async () => expect(await stateOf(token, id)).toBe(state), 8000);
const outboxOf = async (phone: string) =>
  (await database.execute({ sql: 'select * from outbox where phone = ? order by seq', args: [phone] })).rows;

/** A user whose consent the bot has received. */
async function newSettledWriter() {
  const person = await newWriter();
  await vi.waitFor(async () => expect(await outboxOf(person.phone)).toEqual([]), 5000);
  return person;
}

describe('a message that the bot refuses', () => {
  it('fails, is parked, lets the next one pass, and is sent again under its id', async () => {
    const { phone, token } = await newSettledWriter();
    const stream = await OpenChat.open(token);
    await sandbox.botMode('refuse');
    const { message } = (await write(token, 'Please read this')).body;
    await untilState(token, message.id, 'failed');
    await stream.until(({ events }) => events.some(({ type, state }) => type === 'state' && state === 'failed'));
    expect(await outboxOf(phone)).toMatchObject([{ message_id: message.id }]);
    await sandbox.botMode('accept');
    const next = (await write(token, 'The next one')).body.message;
    await untilState(token, next.id, 'delivered');
    expect(await stateOf(token, message.id)).toBe('failed');

    const answers = await parallel(20, () => write(token, 'Please read this', message.id));
    for (const { body } of answers) expect(body.message).toMatchObject({ id: message.id, seq: 1 });
    expect(answers.some(({ body }) => body.message.state === 'sent')).toBe(true);
    await untilState(token, message.id, 'delivered');
    await stream.until(({ messages }) => messages.some(({ id, state }) => id === message.id && state === 'sent'));
    const texts = (await acceptedBy(phone)).map(({ text }) => text);
    expect(texts).toEqual(['The next one', 'Please read this']);
    expect(await outboxOf(phone)).toEqual([]);
    stream.close();
  });

  it('stays refused when it is sent again after the allowance is spent', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.botMode('refuse');
    const { message } = (await write(token, 'Please read this')).body;
    await untilState(token, message.id, 'failed');
    await botCall('/api/bot/usage', { phone, count: 5 });
    expect((await write(token, 'Please read this', message.id)).body.code).toBe('allowance_spent');
    expect(await stateOf(token, message.id)).toBe('failed');
  });

  it('is sent again when the owner retries its parked event', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.botMode('refuse');
    const { message } = (await write(token, 'Please read this')).body;
    await untilState(token, message.id, 'failed');
    await sandbox.botMode('accept');
    const [parked] = await outboxOf(phone);
    const db = openDatabase(settingsOf(env)!, { requests: 0, unreachable: false });
    expect(await retryParked(db, parked!.seq as number, Date.now())).toBe(true);
    await runCron();
    expect(await stateOf(token, message.id)).toBe('delivered');
    expect((await acceptedBy(phone))[0]).not.toHaveProperty('retried');
  });

  it('does not give its state to an older one that was sent again', async () => {
    const { token } = await newSettledWriter();
    await sandbox.botMode('refuse');
    const first = (await write(token, 'One')).body.message;
    await untilState(token, first.id, 'failed');
    await sandbox.faults({ bot: { status: 503 } });
    const again = (await write(token, 'One', first.id)).body.message;
    expect(again.state).toBe('sent');
    const second_ = (await write(token, 'Two')).body.message;
    const stream = await OpenChat.open(token);
    await database.execute({ sql: 'delete from outbox where message_id = ?', args: [first.id] });
    await sandbox.faults({ bot: null });
    await sandbox.botMode('accept');
    advanceClock(minute);
    await runCron();
    await untilState(token, second_.id, 'delivered');
    await stream.until(({ events }) => events.length > 0);
    expect(stream.events[0]).toMatchObject({ type: 'message', message: { id: second_.id, state: 'delivered' } });
    expect(await stateOf(token, first.id)).toBe('sent');
    stream.close();
  });
});

describe('while the bot is down', () => {
  it('messages wait, in order, and arrive once', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { status: 500 } });
    for (const text of ['One', 'Two', 'Three']) await write(token, text);
    await scheduler.wait(300);
    await sandbox.faults({ bot: null });
    advanceClock(minute);
    await parallel(3, () => runCron());
    expect((await acceptedBy(phone)).map(({ text }) => text)).toEqual(['One', 'Two', 'Three']);
  });

  it('messages arrive in the order of the conversation, also if their events were queued in another', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { status: 500 } });
    for (const text of ['One', 'Two', 'Three']) await write(token, text);
    await scheduler.wait(500);
    const [first, , last] = (await outboxOf(phone)).map(({ seq }) => Number(seq));
    // As when the request of the first message is the last to store it.
    for (const [from, to] of [
      [first, -1],
      [last, first],
      [-1, last],
    ] as const)
      await database.execute({ sql: 'update outbox set seq = ? where seq = ?', args: [to!, from!] });
    await sandbox.faults({ bot: null });
    advanceClock(minute);
    await runCron();
    const accepted = await acceptedBy(phone);
    expect(accepted.map(({ text }) => text)).toEqual(['One', 'Two', 'Three']);
    expect(await outboxOf(phone)).toEqual([]);
  });

  it('a message fails after a day, also behind another event that waits', async () => {
    const { phone, token } = await newSettledWriter();
    const behind = await newSettledWriter();
    await sandbox.faults({ bot: { status: 500 } });
    await call('PUT', '/api/user/platform', { token: behind.token, body: { platform: 'web' } });
    const one = (await write(token, 'One')).body.message;
    const two = (await write(behind.token, 'Two')).body.message;
    await scheduler.wait(500);
    advanceClock(day - minute);
    await runCron();
    expect([await stateOf(token, one.id), await stateOf(behind.token, two.id)]).toEqual(['sent', 'sent']);
    advanceClock(minute + second);
    await runCron();
    expect([await stateOf(token, one.id), await stateOf(behind.token, two.id)]).toEqual(['failed', 'failed']);
    await sandbox.faults({ bot: null });
    advanceClock(minute);
    await runCron();
    expect(await acceptedBy(phone)).toEqual([]);
  });

  it('no HTTP response counts as a failure that passes', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Hello?')).body;
    await scheduler.wait(16 * second);
    expect(await stateOf(token, message.id)).toBe('sent');
    await sandbox.botMode('accept');
    advanceClock(minute);
    await runCron();
    await untilState(token, message.id, 'delivered');
    expect(await acceptedBy(phone)).toHaveLength(1);
  });
});

describe('a Worker that is killed', () => {
  it('after it queued the event and before it stored the message: nothing is sent, and a retry is', async () => {
    const { phone, token } = await newSettledWriter();
    const id = crypto.randomUUID();
    await write(token, 'Hello', id);
    await untilState(token, id, 'delivered');
    const userId = (await acceptedBy(phone))[0]!.userId;
    await queueAsIfKilled(phone, userId, 'never-stored');
    await runCron();
    expect(await outboxOf(phone)).toHaveLength(1);
    advanceClock(minute);
    await runCron();
    expect(await outboxOf(phone)).toEqual([]);
    expect(await acceptedBy(phone)).toHaveLength(1);
  });

  it('after the bot accepted the message and before that was noted: the same event arrives again', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { cut: true } });
    const { message } = (await write(token, 'Hello')).body;
    await vi.waitFor(async () => expect(await acceptedBy(phone)).toHaveLength(1));
    await sandbox.faults({ bot: null });
    expect(await stateOf(token, message.id)).toBe('sent');
    advanceClock(minute);
    await runCron();
    await untilState(token, message.id, 'delivered');
    expect((await sandbox.botEvents()).filter(({ data }) => data.messageId === message.id)).toHaveLength(1);
  });

  it('after it stored the message: the cron job sends it', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { drop: true } });
    const { message } = (await write(token, 'Hello')).body;
    await scheduler.wait(300);
    // The row of a request that was killed during delivery: leased, and never released.
    const sql = 'update outbox set leased_until = ?, due_at = ? where phone = ?';
    await database.execute({ sql, args: [Date.now() + 30_000, Date.now(), phone] });
    await sandbox.faults({ bot: null });
    await runCron();
    expect(await stateOf(token, message.id)).toBe('sent');
    advanceClock(31 * second);
    await runCron();
    expect(await stateOf(token, message.id)).toBe('delivered');
  });
});

describe('the replies of the bot', () => {
  it('are stored once for their id, also when they come twice at once', async () => {
    const { phone, token } = await newWriter();
    const answers = await parallel(20, () => reply(phone, 'I hear you.', 'reply-1'));
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

async function queueAsIfKilled(phone: string, userId: string, messageId: string): Promise<void> {
  const data = { phone, userId, messageId, locale: null, country: null };
  const body = JSON.stringify({ type: 'chat.message', timestamp: new Date().toISOString(), data });
  await database.execute({
    sql: 'insert into outbox (phone, body, message_id, created_at, due_at) values (?, ?, ?, ?, ?)',
    args: [phone, body, messageId, Date.now(), Date.now()],
  });
}

it('tells nobody of a message where there is no bot', async () => {
  const { token } = await newWriter();
  const { BOT_WEBHOOK_URL: _, ...others } = vars;
  const { status, body } = await call('POST', '/api/user/chat/messages', {
    token,
    body: { id: crypto.randomUUID(), text: 'Hello' },
    settings: { ...others, BOT_WEBHOOK_URL: undefined as never },
  });
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' });
});
