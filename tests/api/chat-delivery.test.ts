import { env } from 'cloudflare:workers';
import { describe, expect, it } from 'vitest';
import { retryParked } from '../../worker/operations/support/parked-events.ts';
import { openDatabase } from '../../worker/lib/database.ts';
import { settingsOf } from '../../worker/settings.ts';
import { botCall, call, vars } from './support/api.ts';
import { newSettledWriter, outboxOf, stateOf, untilState } from './support/chat-delivery.ts';
import { acceptedBy, newWriter, write } from './support/chat.ts';
import { advanceClock, day, minute, second } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { OpenChat } from './support/open-chat.ts';
import { parallel } from './support/parallel.ts';
import { sandbox } from './support/sandbox.ts';

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
