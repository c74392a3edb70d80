import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { openDatabase } from '../../worker/lib/database.ts';
import { LiveUser } from '../../worker/live/live-user.ts';
import { retryParked } from '../../worker/operations/support/parked-events.ts';
import { settingsOf } from '../../worker/settings.ts';
import { botCall, call, cronAfter, parallel, runCron, vars } from './support/api.ts';
import {
  acceptedBy,
  clearChat,
  newSettledWriter,
  newWriter,
  readChat,
  stateOf,
  textsOf,
  untilDelivered,
  untilRetried,
  untilState,
  write,
} from './support/chat.ts';
import { advanceClock, day, eventually, minute, second, until } from './support/clock.ts';
import { shortenPauses } from './support/pauses.ts';
import { type Person, userOf } from './support/person.ts';
import { holdRequests } from './support/requests.ts';
import { during, eventsAbout, outboxOf, run, sandbox, untilParked } from './support/sandbox.ts';
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
    await untilParked(writer.phone);
    expect(await stateOf(writer.token, id)).toBe('failed');
    await sandbox.botMode('accept');
    return { ...writer, id, stream };
  }

  it('fails, is parked, lets the next one pass, and is sent again under its id', async () => {
    const { phone, token, id, stream } = await withRefused();
    await stream.until(({ events }) =>
      events.some(({ type, state }) => type === 'state' && state === 'failed'),
    );
    expect(await outboxOf(phone)).toMatchObject([{ message_id: id }]);
    const next = (await write(token, 'The next one')).body.message;
    await untilState(token, next.id, 'delivered');
    expect(await stateOf(token, id)).toBe('failed');

    const answers = await parallel(50, () => write(token, text, id));
    for (const { body } of answers)
      expect(body.message).toMatchObject({
        id,
        seq: 1,
      });
    expect(answers.some(({ body }) => body.message.state === 'sent')).toBe(true);
    await untilState(token, id, 'delivered');
    await stream.until(
      ({ messages }) =>
        messages.filter((each) => each.id === id && each.state === 'sent').length > 1,
    );
    expect(await acceptedTexts(phone)).toEqual(['The next one', text]);
    await untilDelivered(phone);
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

  it('is sent again although the parking of its event was lost', async () => {
    const { phone, token, id } = await withRefused();
    await run(
      'update outbox set parked_at = null, due_at = ? where message_id = ?',
      Date.now(),
      id,
    );
    expect((await write(token, text, id)).body.message).toMatchObject({
      id,
      state: 'sent',
    });
    await untilDelivered(phone);
    expect(await acceptedTexts(phone)).toEqual([text]);
  });

  it('is parked by the cron job if its parking was lost', async () => {
    const { phone, token, id } = await withRefused();
    await run(
      'update outbox set parked_at = null, due_at = ? where message_id = ?',
      Date.now(),
      id,
    );
    await cronAfter(minute);
    expect(await outboxOf(phone)).toMatchObject([
      { message_id: id, parked_at: expect.any(Number) },
    ]);
    expect(await stateOf(token, id)).toBe('failed');
  });

  it('is sent again when the owner retries its parked event', async () => {
    const { phone, token, id } = await withRefused();
    const [parked] = await outboxOf(phone);
    const settings = settingsOf(env)!;
    const db = openDatabase(settings, {
      requests: 0,
      unreachable: false,
    });
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
    expect(stream.events[0]).toMatchObject({
      type: 'message',
      message: { id: later.id, state: 'delivered' },
    });
    expect(await stateOf(token, id)).toBe('sent');
  });
});

describe('while the bot is down', () => {
  it('messages arrive once, in the order of the conversation, also if their events were queued in another', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { status: 500 } });
    // With settings a call returns when its background work has ended, which would deliver in the cron job's place.
    shortenPauses();
    await write(token, 'One', undefined, {});
    await parallel(2, (n) => write(token, `Next ${n}`, undefined, {}));
    const texts = await textsOf({ token });
    const [first, , last] = (await outboxOf(phone)).map(({ seq }) => Number(seq));
    // As when the request of the first message is the last to store it.
    const move = (from: number, to: number) =>
      run('update outbox set seq = ? where seq = ?', to, from);
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
    shortenPauses();
    await call('PUT', '/api/user/platform', {
      token: behind.token,
      body: { platform: 'web' },
      settings: {},
    });
    const one = (await write(token, 'One', undefined, {})).body.message;
    const two = (await write(behind.token, 'Two', undefined, {})).body.message;
    const states = async () => [await stateOf(token, one.id), await stateOf(behind.token, two.id)];
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
  expect(answer).toMatchObject({
    status: 503,
    body: { code: 'unavailable' },
  });
});

describe('a Worker that is killed', () => {
  it('before it has stored the message sends nothing, and the message is sent by a retry', async () => {
    const { phone, token } = await newSettledWriter();
    const data = {
      messageId: 'never-stored',
      locale: null,
      country: null,
    };
    const body = JSON.stringify({
      type: 'chat.message',
      timestamp: new Date().toISOString(),
      data,
    });
    const sql =
      'insert into outbox (user_id, phone, body, message_id, created_at, due_at) values (?, ?, ?, ?, ?, ?)';
    await run(sql, userOf(token), phone, body, data.messageId, Date.now(), Date.now());
    await runCron();
    expect(await outboxOf(phone)).toHaveLength(1);
    await cronAfter(minute);
    expect(await outboxOf(phone)).toEqual([]);
    expect(await acceptedBy(phone)).toEqual([]);
  });

  it('before it has noted that the bot took the message leaves the same event to arrive again', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { cut: true } });
    const { message } = (await write(token, 'Hello')).body;
    await untilRetried(phone);
    expect(await acceptedBy(phone)).toHaveLength(1);
    await sandbox.faults({ bot: null });
    expect(await stateOf(token, message.id)).toBe('sent');
    await cronAfter(minute);
    await untilState(token, message.id, 'delivered');
    expect(
      (await sandbox.botEvents()).filter(({ data }) => data.messageId === message.id),
    ).toHaveLength(1);
  });

  it('after it has stored the message leaves it to the cron job', async () => {
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

/** What the bot has received about a number: the texts of messages, and the types of other events. */
const receivedOf = async (phone: string) =>
  (await eventsAbout(phone)).map(({ type, data }) => data.text ?? type);

/** Sends a message that the bot is still receiving when this returns, until it is released. */
async function writeSlowly({ phone, token }: Person, text: string) {
  const { arrived, ...requests } = holdRequests(vars.BOT_WEBHOOK_URL!, phone);
  const { message } = (await write(token, text)).body;
  await arrived();
  return { id: message.id as string, ...requests };
}

/** A writer whose message the bot is still receiving when this returns, until it is released. */
async function newSlowWriter() {
  const person = await newSettledWriter();
  return { ...person, ...(await writeSlowly(person, 'One')) };
}

/**
 * Holds every message, or those of an id, or the first of them, between its event, which is queued, and the Durable
 * Object; returns what lets them pass.
 */
function holdMessages(id?: string, which: 'all' | 'first' = 'all'): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  let held = 0;
  const appendUserMessage: LiveUser['appendUserMessage'] = Reflect.get(
    LiveUser.prototype,
    'appendUserMessage',
  );
  vi.spyOn(LiveUser.prototype, 'appendUserMessage').mockImplementation(async function (
    this: LiveUser,
    ...message
  ) {
    const isIt = id === undefined || message[1].id === id;
    if (isIt && (which === 'all' || held++ === 0)) await promise;
    return appendUserMessage.apply(this, message);
  });
  return resolve;
}

it('delivers a message that was stored first before one whose event was queued first', async () => {
  const { phone, token } = await newSettledWriter();
  const id = crypto.randomUUID();
  const pass = holdMessages(id);
  const one = write(token, 'One', id);
  await eventually(async () => expect(await outboxOf(phone)).toMatchObject([{ message_id: id }]));
  await write(token, 'Two');
  pass();
  expect((await one).status).toBe(200);
  await untilDelivered(phone);
  expect(await acceptedTexts(phone)).toEqual(['Two', 'One']);
});

it('delivers a message at once that is sent again after the response to its queueing was lost', async () => {
  const { phone, token } = await newSettledWriter();
  const id = crypto.randomUUID();
  const send = () => write(token, 'One', id);
  expect(
    (
      await during(
        {
          libsql: {
            cut: true,
            match: id,
          },
        },
        send,
      )
    ).status,
  ).toBe(503);
  expect((await send()).body.message).toMatchObject({
    id,
    state: 'sent',
  });
  await untilDelivered(phone);
  expect(await receivedOf(phone)).toEqual(['chat.consent', 'One']);
});

it('delivers a message once that a second request stores before the first one', async () => {
  const { phone, token } = await newSettledWriter();
  const id = crypto.randomUUID();
  const pass = holdMessages(id, 'first');
  // With settings a call returns when its background work has ended.
  shortenPauses();
  const first = write(token, 'One', id, {});
  await eventually(async () => expect(await outboxOf(phone)).toMatchObject([{ message_id: id }]));
  const { arrived, release, held } = holdRequests(vars.BOT_WEBHOOK_URL!, phone);
  expect((await write(token, 'One', id)).body.message).toMatchObject({
    id,
    state: 'sent',
  });
  await arrived();
  pass();
  expect((await first).body.message).toMatchObject({ id, state: 'sent' });
  expect(held()).toBe(1);
  release();
  await untilDelivered(phone);
  expect(await receivedOf(phone)).toEqual(['chat.consent', 'One']);
});

it('delivers a message once that is sent again while the bot receives it', async () => {
  const { phone, token, id, release, held } = await newSlowWriter();
  shortenPauses();
  expect((await write(token, 'One', id, {})).body.message).toMatchObject({
    id,
    state: 'sent',
  });
  expect(held()).toBe(1);
  release();
  await untilDelivered(phone);
  expect(await receivedOf(phone)).toEqual(['chat.consent', 'One']);
});

it.each([false, true])(
  'delivers a message before `chat.cleared`, and takes it again, lost: %s',
  async (isLost) => {
    const { phone, token, id, release } = await newSlowWriter();
    expect((await clearChat(token)).status).toBe(200);
    const { message } = (await write(token, 'Two')).body;
    expect((await write(token, 'One', id)).body.message).toMatchObject({
      id,
      seq: 3,
      state: 'sent',
    });
    release({ isLost });
    await untilDelivered(phone);
    expect(await receivedOf(phone)).toEqual(['chat.consent', 'One', 'chat.cleared', 'Two']);
    const delivered = [message.id, id].map((each) => ({
      id: each,
      state: 'delivered',
    }));
    expect((await readChat(token)).messages).toMatchObject(delivered);
  },
);

it('delivers a message that was sent after a clearing, also by a request that began before it', async () => {
  const { phone, token, release } = await newSlowWriter();
  // With settings a call returns when its background work has ended: both requests have given up the delivery.
  shortenPauses();
  await call('DELETE', '/api/user/chat', { token, settings: {} });
  const { message } = (await write(token, 'Two', undefined, {})).body;
  // An event without a message is dropped after 15 s. The request of the first message, which ends now, goes on for 20 s.
  advanceClock(12 * second);
  release();
  await untilDelivered(phone);
  expect((await receivedOf(phone)).at(-1)).toBe('Two');
  expect((await readChat(token)).messages).toMatchObject([{ id: message.id, state: 'delivered' }]);
});

it('delivers a failed message that is sent again before and after its event is parked', async () => {
  const { phone, token } = await newSettledWriter();
  await sandbox.botMode('refuse');
  const { arrived, release } = holdRequests('\\"leased_until\\" = ?, \\"parked_at\\" = ?');
  const { id } = (await write(token, 'One')).body.message;
  await arrived();
  await sandbox.botMode('accept');
  expect((await write(token, 'One', id)).body.message).toMatchObject({
    id,
    state: 'failed',
  });
  release();
  await untilParked(phone);
  expect((await write(token, 'One', id)).body.message).toMatchObject({
    id,
    state: 'sent',
  });
  await untilState(token, id, 'delivered');
  expect(await acceptedTexts(phone)).toEqual(['One']);
});

it('delivers a failed message that is sent again while the event before it is settled', async () => {
  const person = await newSettledWriter();
  const { phone, token } = person;
  await sandbox.botMode('refuse');
  const { id } = (await write(token, 'One')).body.message;
  await untilParked(phone);
  await sandbox.botMode('accept');
  const two = await writeSlowly(person, 'Two');
  const release = holdMessages();
  const again = write(token, 'One', id);
  const eventOfOne = async () => (await outboxOf(phone)).find((row) => row['message_id'] === id);
  const queued = await until('the event of One', eventOfOne, (row) => row?.['parked_at'] === null);
  two.release();
  await until(
    'an attempt without the message',
    eventOfOne,
    (row) => row!['attempts'] !== queued!['attempts'],
  );
  await until('the end of the attempt', eventOfOne, (row) => row!['leased_until'] === 0);
  expect((await receivedOf(phone)).at(-1)).toBe('Two');
  release();
  expect((await again).body.message).toMatchObject({ id, state: 'sent' });
  await cronAfter(minute);
  await untilDelivered(phone);
  expect((await receivedOf(phone)).at(-1)).toBe('One');
  expect((await readChat(token)).messages).toMatchObject([
    { id, state: 'delivered' },
    { state: 'delivered' },
  ]);
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
  expect(await overtaken).toMatchObject({
    status: 503,
    body: { code: 'unavailable' },
  });
  expect((await write(token, 'Two', id)).status).toBe(200);
  await untilDelivered(phone);
  expect(await receivedOf(phone)).toEqual(['chat.consent', 'One', 'chat.cleared', 'Two']);
});
