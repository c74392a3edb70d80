import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../worker/lib/database.ts';
import { retryParked } from '../../worker/operations/support/parked-events.ts';
import { settingsOf } from '../../worker/settings.ts';
import { botCall, call, cronAfter, parallel, runCron } from './support/api.ts';
import { acceptedBy, newSettledWriter, newWriter, stateOf, untilRetried, untilState, write } from './support/chat.ts';
import { advanceClock, day, minute, second } from './support/clock.ts';
import { outboxOf, run, sandbox } from './support/sandbox.ts';
import { userOf } from './support/person.ts';
import { OpenChat } from './support/streams.ts';

const acceptedTexts = async (phone: string) => (await acceptedBy(phone)).map(({ text }) => text);

describe('a message that the bot refuses', () => {
  const text = 'Please read this';

  /** A writer with an open stream and a failed message; from now on the bot accepts messages. */
  async function withRefused() {
    const writer = await newSettledWriter();
    const stream = await OpenChat.open(writer.token);
    await sandbox.botMode('refuse');
    const { id }: { id: string } = (await write(writer.token, text)).body.message;
    await untilState(writer.token, id, 'failed');
    await sandbox.botMode('accept');
    return { ...writer, id, stream };
  }

  it('fails, is parked, lets the next one pass, and is sent again under its id', async () => {
    const { phone, token, id, stream } = await withRefused();
    await stream.until(({ events }) => events.some(({ type, state }) => type === 'state' && state === 'failed'));
    expect(await outboxOf(phone)).toMatchObject([{ message_id: id }]);
    const next = (await write(token, 'The next one')).body.message;
    await untilState(token, next.id, 'delivered');
    expect(await stateOf(token, id)).toBe('failed');

    const answers = await parallel(50, () => write(token, text, id));
    for (const { body } of answers) expect(body.message).toMatchObject({ id, seq: 1 });
    expect(answers.some(({ body }) => body.message.state === 'sent')).toBe(true);
    await untilState(token, id, 'delivered');
    await stream.until(({ messages }) => messages.filter((each) => each.id === id && each.state === 'sent').length > 1);
    expect(await acceptedTexts(phone)).toEqual(['The next one', text]);
    expect(await outboxOf(phone)).toEqual([]);
  });

  it('stays refused when another text is tried under its id, or the allowance is spent', async () => {
    const { phone, token, id } = await withRefused();
    const parked = await outboxOf(phone);
    expect((await write(token, 'Something else', id)).body.code).toBe('id_reused');
    await botCall('/api/bot/usage', { phone, count: 5 });
    expect((await write(token, text, id)).body.code).toBe('allowance_spent');
    expect(await outboxOf(phone)).toEqual(parked);
    expect(await stateOf(token, id)).toBe('failed');
  });

  it('is sent again when the owner retries its parked event', async () => {
    const { phone, token, id } = await withRefused();
    const [parked] = await outboxOf(phone);
    const settings = settingsOf(env)!;
    const db = openDatabase(settings, { requests: 0, unreachable: false });
    expect(await retryParked({ db, settings }, parked!.seq as number, Date.now())).toBe(true);
    await runCron();
    expect(await stateOf(token, id)).toBe('delivered');
    expect((await acceptedBy(phone))[0]).not.toHaveProperty('retried');
  });

  it('does not give its state to an older one that was sent again', async () => {
    const { token, id } = await withRefused();
    await sandbox.faults({ bot: { status: 503 } });
    expect((await write(token, text, id)).body.message.state).toBe('sent');
    const later = (await write(token, 'Two')).body.message;
    const stream = await OpenChat.open(token);
    await run('delete from outbox where message_id = ?', id);
    await sandbox.faults({ bot: null });
    await cronAfter(minute);
    await untilState(token, later.id, 'delivered');
    await stream.until(({ events }) => events.length > 0);
    expect(stream.events[0]).toMatchObject({ type: 'message', message: { id: later.id, state: 'delivered' } });
    expect(await stateOf(token, id)).toBe('sent');
  });
});

describe('while the bot is down', () => {
  it('messages arrive once, in the order of the conversation, also if their events were queued in another', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { status: 500 } });
    const texts = ['One', 'Two', 'Three'];
    for (const text of texts) await write(token, text);
    await untilRetried(phone);
    const [first, , last] = (await outboxOf(phone)).map(({ seq }) => Number(seq));
    // As when the request of the first message is the last to store it.
    const move = (from: number, to: number) => run('update outbox set seq = ? where seq = ?', to, from);
    await move(first!, -1);
    await move(last!, first!);
    await move(-1, last!);
    await sandbox.faults({ bot: null });
    advanceClock(minute);
    await parallel(3, () => runCron());
    expect(await acceptedTexts(phone)).toEqual(texts);
    expect(await outboxOf(phone)).toEqual([]);
  });

  it('a message fails after a day, also behind another event that waits', async () => {
    const { phone, token } = await newSettledWriter();
    const behind = await newSettledWriter();
    await sandbox.faults({ bot: { status: 500 } });
    await call('PUT', '/api/user/platform', { token: behind.token, body: { platform: 'web' } });
    const one = (await write(token, 'One')).body.message;
    const two = (await write(behind.token, 'Two')).body.message;
    const states = async () => [await stateOf(token, one.id), await stateOf(behind.token, two.id)];
    for (const each of [phone, behind.phone]) await untilRetried(each);
    await cronAfter(day - minute);
    expect(await states()).toEqual(['sent', 'sent']);
    await cronAfter(minute + second);
    expect(await states()).toEqual(['failed', 'failed']);
    await sandbox.faults({ bot: null });
    await cronAfter(minute);
    expect(await acceptedBy(phone)).toEqual([]);
  });
});

it('tells nobody of a message where there is no bot', async () => {
  const { token } = await newWriter();
  const answer = await write(token, 'Hello', undefined, { BOT_WEBHOOK_URL: undefined as never });
  expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
});

describe('a Worker that is killed', () => {
  it('after it queued the event and before it stored the message: nothing is sent, and a retry is', async () => {
    const { phone, token } = await newSettledWriter();
    const data = { phone, userId: userOf(token), messageId: 'never-stored', locale: null, country: null };
    const body = JSON.stringify({ type: 'chat.message', timestamp: new Date().toISOString(), data });
    const sql = 'insert into outbox (phone, body, message_id, created_at, due_at) values (?, ?, ?, ?, ?)';
    await run(sql, phone, body, data.messageId, Date.now(), Date.now());
    await runCron();
    expect(await outboxOf(phone)).toHaveLength(1);
    await cronAfter(minute);
    expect(await outboxOf(phone)).toEqual([]);
    expect(await acceptedBy(phone)).toEqual([]);
  });

  it('after the bot accepted the message and before that was noted: the same event arrives again', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { cut: true } });
    const { message } = (await write(token, 'Hello')).body;
    await untilRetried(phone);
    expect(await acceptedBy(phone)).toHaveLength(1);
    await sandbox.faults({ bot: null });
    expect(await stateOf(token, message.id)).toBe('sent');
    await cronAfter(minute);
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
    await run(sql, Date.now() + 30_000, Date.now(), phone);
    await sandbox.faults({ bot: null });
    await runCron();
    expect(await stateOf(token, message.id)).toBe('sent');
    await cronAfter(31 * second);
    expect(await stateOf(token, message.id)).toBe('delivered');
  });
});
