import { describe, expect, it, vi } from 'vitest';
import { LiveUser } from '../../worker/live/live-user.ts';
import { call } from './support/api.ts';
import { readChat, write } from './support/chat.ts';
import { newSettledWriter, outboxOf } from './support/chat-delivery.ts';
import { advanceClock, minute, second } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { sandbox } from './support/sandbox.ts';

const untilSent = (phone: string) => vi.waitFor(async () => expect(await outboxOf(phone)).toEqual([]), 8000);

/** What the bot has received about a number: the texts of messages, and the types of other events. */
const receivedOf = async (phone: string) =>
  (await sandbox.botEvents()).flatMap(({ type, data }) => (data.phone === phone ? [data.text ?? type] : []));

/** Sends a message that the bot is still receiving when this returns. */
async function writeSlowly(token: string, text: string, fault: { delayMs?: number; cut?: true } = {}): Promise<string> {
  await sandbox.faults({ bot: { delayMs: 2000, ...fault } });
  const { message } = (await write(token, text)).body;
  await scheduler.wait(500);
  await sandbox.faults({ bot: null });
  return message.id;
}

/** Holds every message between its event, which is queued, and the Durable Object; returns what lets them pass. */
function holdMessages(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const append: LiveUser['append'] = Reflect.get(LiveUser.prototype, 'append');
  vi.spyOn(LiveUser.prototype, 'append').mockImplementation(async function (this: LiveUser, ...message) {
    await promise;
    return append.apply(this, message);
  });
  return resolve;
}

describe('a message that the bot is receiving during a clearing', () => {
  it.each([{}, { cut: true as const }])('precedes `chat.cleared` and later messages: %o', async (fault) => {
    const { phone, token } = await newSettledWriter();
    await writeSlowly(token, 'One', fault);
    expect((await call('DELETE', '/api/user/chat', { token })).status).toBe(200);
    const { message } = (await write(token, 'Two')).body;
    await untilSent(phone);
    expect(await receivedOf(phone)).toEqual(['chat.consent', 'One', 'chat.cleared', 'Two']);
    expect((await readChat(token)).messages).toMatchObject([{ id: message.id, state: 'delivered' }]);
  });

  it('can be sent again under its id', async () => {
    const { phone, token } = await newSettledWriter();
    const id = await writeSlowly(token, 'One');
    await call('DELETE', '/api/user/chat', { token });
    expect((await write(token, 'One', id)).body.message).toMatchObject({ id, seq: 2, state: 'sent' });
    await untilSent(phone);
    expect((await readChat(token)).messages).toMatchObject([{ id, seq: 2, state: 'delivered' }]);
  });
});

it('delivers a message that was sent after a clearing, also by a request that began before it', async () => {
  const { phone, token } = await newSettledWriter();
  await writeSlowly(token, 'One', { delayMs: 5000 });
  await sandbox.faults({ bot: { status: 503 } });
  await call('DELETE', '/api/user/chat', { token });
  await scheduler.wait(400);
  const { message } = (await write(token, 'Two')).body;
  // Until its own request has given up.
  await scheduler.wait(3000);
  await sandbox.faults({ bot: null });
  // An event without a message is dropped after 15 s. The request of the first message, which ends now, goes on for 20 s.
  advanceClock(12 * second);
  await untilSent(phone);
  expect((await receivedOf(phone)).at(-1)).toBe('Two');
  expect((await readChat(token)).messages).toMatchObject([{ id: message.id, state: 'delivered' }]);
});

it('delivers a failed message that is sent again while the event before it is settled', async () => {
  const { phone, token } = await newSettledWriter();
  await sandbox.botMode('refuse');
  const { id } = (await write(token, 'One')).body.message;
  await vi.waitFor(async () => expect((await readChat(token)).messages).toMatchObject([{ state: 'failed' }]));
  await sandbox.botMode('accept');
  await writeSlowly(token, 'Two');
  const release = holdMessages();
  const again = write(token, 'One', id);
  await vi.waitFor(async () => expect((await receivedOf(phone)).at(-1)).toBe('Two'), 5000);
  await scheduler.wait(500);
  release();
  expect((await again).body.message).toMatchObject({ id, state: 'sent' });
  advanceClock(minute);
  await runCron();
  expect((await receivedOf(phone)).at(-1)).toBe('One');
  expect((await readChat(token)).messages).toMatchObject([{ id, state: 'delivered' }, { state: 'delivered' }]);
});

it('delivers a message at once that is sent again after a clearing has overtaken it', async () => {
  const { phone, token } = await newSettledWriter();
  await write(token, 'One');
  await untilSent(phone);
  const release = holdMessages();
  const id = crypto.randomUUID();
  const overtaken = write(token, 'Two', id);
  await vi.waitFor(async () => expect(await outboxOf(phone)).toHaveLength(1));
  await call('DELETE', '/api/user/chat', { token });
  await vi.waitFor(async () => expect((await readChat(token)).messages).toEqual([]));
  release();
  expect(await overtaken).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect((await write(token, 'Two', id)).status).toBe(200);
  await untilSent(phone);
  expect(await receivedOf(phone)).toEqual(['chat.consent', 'One', 'chat.cleared', 'Two']);
});
