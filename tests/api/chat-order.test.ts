import { expect, it, vi } from 'vitest';
import { LiveUser } from '../../worker/live/live-user.ts';
import { call, cronAfter, vars } from './support/api.ts';
import { clearChat, newSettledWriter, readChat, untilDelivered, untilState, write } from './support/chat.ts';
import { advanceClock, eventually, minute, second, until } from './support/clock.ts';
import type { Person } from './support/person.ts';
import { holdRequests } from './support/requests.ts';
import { outboxOf, sandbox } from './support/sandbox.ts';

/** What the bot has received about a number: the texts of messages, and the types of other events. */
const receivedOf = async (phone: string) =>
  (await sandbox.botEvents()).flatMap(({ type, data }) => (data.phone === phone ? [data.text ?? type] : []));

/** Sends a message that the bot is still receiving when this returns, until it is released. */
async function writeSlowly({ phone, token }: Person, text: string) {
  const { arrived, release } = holdRequests(vars.BOT_WEBHOOK_URL!, phone);
  const { message } = (await write(token, text)).body;
  await arrived();
  return { id: message.id as string, release };
}

/** A writer whose message the bot is still receiving when this returns, until it is released. */
async function newSlowWriter() {
  const person = await newSettledWriter();
  return { ...person, ...(await writeSlowly(person, 'One')) };
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

it.each([false, true])('delivers a message before `chat.cleared`, and takes it again, lost: %s', async (isLost) => {
  const { phone, token, id, release } = await newSlowWriter();
  expect((await clearChat(token)).status).toBe(200);
  const { message } = (await write(token, 'Two')).body;
  expect((await write(token, 'One', id)).body.message).toMatchObject({ id, seq: 3, state: 'sent' });
  release({ isLost });
  await untilDelivered(phone);
  expect(await receivedOf(phone)).toEqual(['chat.consent', 'One', 'chat.cleared', 'Two']);
  const delivered = [message.id, id].map((each) => ({ id: each, state: 'delivered' }));
  expect((await readChat(token)).messages).toMatchObject(delivered);
});

it('delivers a message that was sent after a clearing, also by a request that began before it', async () => {
  const { phone, token, release } = await newSlowWriter();
  // With settings a call returns when its background work has ended: both requests have given up the delivery.
  await call('DELETE', '/api/user/chat', { token, settings: {} });
  const { message } = (await write(token, 'Two', undefined, {})).body;
  // An event without a message is dropped after 15 s. The request of the first message, which ends now, goes on for 20 s.
  advanceClock(12 * second);
  release();
  await untilDelivered(phone);
  expect((await receivedOf(phone)).at(-1)).toBe('Two');
  expect((await readChat(token)).messages).toMatchObject([{ id: message.id, state: 'delivered' }]);
});

it('delivers a failed message that is sent again while the event before it is settled', async () => {
  const person = await newSettledWriter();
  const { phone, token } = person;
  await sandbox.botMode('refuse');
  const { id } = (await write(token, 'One')).body.message;
  await untilState(token, id, 'failed');
  await sandbox.botMode('accept');
  const two = await writeSlowly(person, 'Two');
  const release = holdMessages();
  const again = write(token, 'One', id);
  const eventOfOne = async () => (await outboxOf(phone)).find((row) => row['message_id'] === id);
  const queued = await until('the event of One', eventOfOne, (row) => row?.['parked_at'] === null);
  two.release();
  await until('an attempt without the message', eventOfOne, (row) => row!['attempts'] !== queued!['attempts']);
  await until('the end of the attempt', eventOfOne, (row) => row!['leased_until'] === 0);
  expect((await receivedOf(phone)).at(-1)).toBe('Two');
  release();
  expect((await again).body.message).toMatchObject({ id, state: 'sent' });
  await cronAfter(minute);
  expect((await receivedOf(phone)).at(-1)).toBe('One');
  expect((await readChat(token)).messages).toMatchObject([{ id, state: 'delivered' }, { state: 'delivered' }]);
});

it('delivers a message at once that is sent again after a clearing has overtaken it', async () => {
  const { phone, token } = await newSettledWriter();
  await write(token, 'One');
  await untilDelivered(phone);
  const release = holdMessages();
  const id = crypto.randomUUID();
  const overtaken = write(token, 'Two', id);
  await eventually(async () => expect(await outboxOf(phone)).toHaveLength(1));
  await clearChat(token);
  await eventually(async () => expect((await readChat(token)).messages).toEqual([]));
  release();
  expect(await overtaken).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  expect((await write(token, 'Two', id)).status).toBe(200);
  await untilDelivered(phone);
  expect(await receivedOf(phone)).toEqual(['chat.consent', 'One', 'chat.cleared', 'Two']);
});
