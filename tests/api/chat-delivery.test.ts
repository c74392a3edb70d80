import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../worker/lib/database.ts';
import { retryParked } from '../../worker/operations/support/parked-events.ts';
import { settingsOf } from '../../worker/settings.ts';
import { botCall, call, vars, runCron, parallel } from './support/api.ts';
import {
  newSettledWriter,
  outboxOf,
  stateOf,
  untilRetried,
  untilState,
  acceptedBy,
  newWriter,
  write,
} from './support/chat.ts';
import { advanceClock, day, minute, second, until } from './support/clock.ts';
import { database } from './support/database.ts';
import { sandbox } from './support/sandbox.ts';
import { OpenChat } from './support/streams.ts';

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

    const answers = await parallel(50, () => write(token, 'Please read this', message.id));
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

  it('is not lost when another text is tried under its id', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.botMode('refuse');
    const { message } = (await write(token, 'Please read this')).body;
    await untilState(token, message.id, 'failed');
    await sandbox.botMode('accept');
    const parked = await outboxOf(phone);
    const refused = await write(token, 'Something else', message.id);
    expect(refused.body.code).toBe('id_reused');
    expect(await outboxOf(phone)).toEqual(parked);
    expect((await write(token, 'Please read this', message.id)).body.message.state).toBe('sent');
    await untilState(token, message.id, 'delivered');
    expect((await write(token, 'Something else', message.id)).body.code).toBe('id_reused');
    expect(await outboxOf(phone)).toEqual([]);
    expect((await acceptedBy(phone)).map(({ text }) => text)).toEqual(['Please read this']);
  });

  it('is sent again when the owner retries its parked event', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.botMode('refuse');
    const { message } = (await write(token, 'Please read this')).body;
    await untilState(token, message.id, 'failed');
    await sandbox.botMode('accept');
    const [parked] = await outboxOf(phone);
    const db = openDatabase(settingsOf(env)!, { requests: 0, unreachable: false });
    expect(await retryParked({ db, settings: settingsOf(env)! }, parked!.seq as number, Date.now())).toBe(true);
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
    await untilRetried(phone);
    await sandbox.faults({ bot: null });
    advanceClock(minute);
    await parallel(3, () => runCron());
    expect((await acceptedBy(phone)).map(({ text }) => text)).toEqual(['One', 'Two', 'Three']);
  });

  it('messages arrive in the order of the conversation, also if their events were queued in another', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { status: 500 } });
    for (const text of ['One', 'Two', 'Three']) await write(token, text);
    await untilRetried(phone);
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
    for (const each of [phone, behind.phone]) await untilRetried(each);
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
    const match = phone.slice(1);
    await sandbox.faults({ bot: { hold: true, match } });
    const silence = new AbortController();
    const realTimeout = AbortSignal.timeout.bind(AbortSignal);
    const timeoutOfBot = 15 * second;
    const timeouts = vi
      .spyOn(AbortSignal, 'timeout')
      .mockImplementation((ms) => (ms === timeoutOfBot ? silence.signal : realTimeout(ms)));
    const { message } = (await write(token, 'Hello?')).body;
    await until('the request to the bot', () => sandbox.heldBy(match));
    silence.abort(new DOMException('The bot is silent', 'TimeoutError'));
    timeouts.mockRestore();
    await untilRetried(phone);
    expect(await stateOf(token, message.id)).toBe('sent');
    await sandbox.faults({ bot: null });
    advanceClock(minute);
    await runCron();
    await untilState(token, message.id, 'delivered');
    expect(await acceptedBy(phone)).toHaveLength(1);
  });
});

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

async function queueAsIfKilled(phone: string, userId: string, messageId: string): Promise<void> {
  const data = { phone, userId, messageId, locale: null, country: null };
  const body = JSON.stringify({ type: 'chat.message', timestamp: new Date().toISOString(), data });
  await database.execute({
    sql: 'insert into outbox (phone, body, message_id, created_at, due_at) values (?, ?, ?, ?, ?)',
    args: [phone, body, messageId, Date.now(), Date.now()],
  });
}

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
    await untilRetried(phone);
    expect(await acceptedBy(phone)).toHaveLength(1);
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
    await untilRetried(phone);
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
