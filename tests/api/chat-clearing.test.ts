import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { unqueue, type QueuedEvent } from '../../worker/chat/message-event.ts';
import { openDatabase } from '../../worker/lib/database.ts';
import { repeatEvents } from '../../worker/operations/after-restore/repeat-events.ts';
import { settingsOf } from '../../worker/settings.ts';
import { call, cronAfter, runCron, tally } from './support/api.ts';
import {
  clearChat,
  consent,
  newSettledWriter,
  newWriter,
  readChat,
  reply,
  textsOf,
  untilAccepted,
  untilReplied,
  untilRetried,
  write,
} from './support/chat.ts';
import { advanceClock, day, eventually, minute, second } from './support/clock.ts';
import { beginChange, verifyChange } from './support/codes.ts';
import { eventTypes } from './support/contacts.ts';
import { deleteAccount, exportOf, newPerson, userOf } from './support/person.ts';
import { logLines, startHeld } from './support/requests.ts';
import { deliveredEvents, run, sandbox, userRowOf } from './support/sandbox.ts';
import { liveUserOf, OpenChat } from './support/streams.ts';
import { newSpeaker } from './support/voice.ts';

const database = () => openDatabase(settingsOf(env)!, { requests: 0, unreachable: false });

describe('a withdrawal of consent that a restore repeats', () => {
  /** Somebody who has withdrawn the consent, which a restored database has, and what repeats it. */
  async function restored() {
    const person = await newSettledWriter();
    const at = Date.now();
    advanceClock(minute);
    await call('DELETE', '/api/user/chat/consent', { token: person.token });
    await deliveredEvents(person.phone);
    await consent(person.token);
    await run('update users set chat_consent_at = ? where phone = ?', at, person.phone);
    const settings = settingsOf(env)!;
    const db = database();
    advanceClock(minute);
    const restore = {
      db,
      settings,
      at,
      until: Date.now() - 1,
      isDry: false,
    };
    return { ...person, repeat: () => repeatEvents.run(restore) };
  }

  const consentOf = async (token: string) => (await readChat(token)).consent;

  it('is repeated', async () => {
    const { token, repeat } = await restored();
    expect(await consentOf(token)).not.toBeNull();
    await repeat();
    expect(await consentOf(token)).toBeNull();
  });

  it('leaves alone who consents anew at this moment', async () => {
    const { token, repeat } = await restored();
    const repeating = await startHeld(repeat, userOf(token), 'chat_erasures');
    await run('update users set chat_consent_at = ? where id = ?', Date.now(), userOf(token));
    await write(token, 'Since');
    await repeating.finish();
    expect(await consentOf(token)).not.toBeNull();
    expect(await textsOf({ token })).toEqual(['Since']);
  });
});

describe('clearing', () => {
  it('empties the conversation everywhere; consent, seq and revision go on', async () => {
    const { phone, token } = await newWriter();
    const stream = await OpenChat.open(token);
    await write(token, 'Hello');
    await untilReplied({ phone, token }, 1);
    const { consent, ...before } = await readChat(token);
    expect((await clearChat(token)).body).toEqual({ success: true });
    const revision = before.revision + 1;
    expect(await readChat(token)).toMatchObject({
      messages: [],
      hasMore: false,
      consent,
      revision,
    });
    await stream.until(({ events }) => events.some(({ type }) => type === 'cleared'));
    const { message } = (await write(token, 'A new beginning')).body;
    expect(message.seq).toBe(3);
    await stream.until(({ messages }) => messages.some(({ text }) => text === 'A new beginning'));
    expect(
      (await deliveredEvents(phone)).filter(({ type }) => type === 'chat.cleared'),
    ).toHaveLength(1);
    const late = await OpenChat.open(token, 1);
    await late.until(({ messages }) => messages.length > 0);
    expect(late.events[0]).toMatchObject({
      id: String(revision),
      type: 'cleared',
    });
    expect(late.messages.map(({ text }) => text)).not.toContain('Hello');
  });

  it('refuses replies to a message that was cleared, also those that come again, until it is sent again', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { id } = (await write(token, 'Never mind')).body.message;
    const answer = (replyId: string) => reply(phone, 'About that', replyId, { replyTo: id });
    expect(await answer('early')).toMatchObject({ status: 200 });
    await clearChat(token);
    const refusal = {
      status: 409,
      body: {
        code: 'conflict',
        message: 'The person has cleared this message.',
      },
    };
    for (const replyId of ['early', 'late', 'late'])
      expect(await answer(replyId)).toMatchObject(refusal);
    expect(await textsOf({ token })).toEqual([]);
    await clearChat(token);
    expect(await answer('later')).toMatchObject(refusal);
    for (const accepted of [{}, { replyTo: 'wamid.elsewhere' }])
      expect(await reply(phone, 'By the way', undefined, accepted)).toMatchObject({ status: 200 });
    await write(token, 'Never mind', id);
    expect(await answer('last')).toMatchObject({ status: 200 });
    expect(await textsOf({ token })).toEqual([
      'By the way',
      'By the way',
      'Never mind',
      'About that',
    ]);
  });

  it('clears nothing while the number moves, to which the next key would not belong', async () => {
    const { token } = await newWriter();
    await write(token, 'Hello');
    const change = await beginChange(token);
    const clearing = await startHeld(() => clearChat(token), 'insert into \\"chat_erasures\\"');
    expect((await verifyChange(token, change)).status).toBe(200);
    expect(await clearing.finish()).toMatchObject({
      status: 503,
      body: { code: 'unavailable' },
    });
    expect(await textsOf({ token })).toContain('Hello');
  });

  it('renews no limit of a minute', async () => {
    advanceClock(0);
    const { phone, token } = await newSpeaker();
    await sandbox.botMode('accept', phone);
    const answers = [];
    for (let round = 0; round < 6; round += 1) {
      for (let text = 0; text < 5; text += 1) answers.push(await write(token, `Text ${text}`));
      await clearChat(token);
    }
    expect(tally(answers)).toEqual({ 200: 20, 429: 10 });
    advanceClock(minute);
    expect((await write(token, 'A minute later')).status).toBe(200);
  });

  it('withdraws the messages that wait for the bot', async () => {
    const { phone, token } = await newSettledWriter();
    await sandbox.faults({ bot: { status: 503, match: phone.slice(1) } });
    for (const text of ['Never mind', 'Nor this']) await write(token, text);
    await untilRetried(phone);
    await clearChat(token);
    await sandbox.faults({ bot: null });
    await cronAfter(5 * minute);
    expect(await eventTypes(phone)).toEqual(['chat.consent', 'chat.cleared']);
  });

  describe('while the bot takes a message', () => {
    /** Somebody whose message was in delivery when the conversation was cleared. */
    async function clearedInDelivery() {
      const { phone, token } = await newSettledWriter();
      await sandbox.faults({ bot: { status: 503, match: phone.slice(1) } });
      await write(token, 'Never mind');
      await untilRetried(phone);
      const leasedUntil = Date.now() + minute;
      await run('update outbox set leased_until = ? where user_id = ?', leasedUntil, userOf(token));
      await clearChat(token);
      const [event] = await eventsOf(token);
      await sandbox.faults({ bot: null });
      return {
        token,
        event: { seq: Number(event!['seq']), createdAt: Number(event!['created_at']) },
      };
    }

    const eventsOf = async (token: string) =>
      (await run(`select * from outbox where user_id = ? and body = '{}'`, userOf(token))).rows;

    it('exports nothing of it', async () => {
      const { token } = await clearedInDelivery();
      const { status, body } = await exportOf(token);
      expect(status).toBe(200);
      expect(JSON.stringify(body)).not.toContain('Never mind');
      expect(logLines('row_not_bound')).toEqual([]);
    });

    it('parks it no more if its request could not store it again', async () => {
      const { token, event } = await clearedInDelivery();
      const before = { ownsEvent: true, parkedSince: 1, parkedAttempts: 3, parkedCreatedAt: 1 };
      await unqueue(database(), event as QueuedEvent, before);
      await cronAfter(minute + second);
      expect(await eventsOf(token)).toEqual([]);
    });
  });
});

describe('erasing', () => {
  const erasuresOf = async (token: string) =>
    (await run('select * from chat_erasures where user_id = ?', userOf(token))).rows;
  const rowsIn = (token: string, table = 'messages') =>
    runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
      const tables = sql.exec('select 1 from sqlite_master where name = ?', table).toArray();
      return tables.length === 0
        ? 0
        : Number(sql.exec(`select count(*) as n from ${table}`).one().n);
    });
  /** Stores a message at the live object, as a request on its way does. */
  const append = (token: string, id: string, epoch = 0) =>
    runInDurableObject(liveUserOf(token), (object) => {
      const sealed = new ArrayBuffer(40);
      const notAfter = Date.now() + day;
      const message = {
        id,
        author: 'user' as const,
        sealed,
        notAfter,
        perMinute: 1000,
      };
      return object.appendUserMessage(epoch, message);
    });
  const runAlarm = (token: string) => runDurableObjectAlarm(liveUserOf(token));
  const daysToAlarm = async (token: string) => {
    const alarm = await runInDurableObject(liveUserOf(token), (_, { storage }) =>
      storage.getAlarm(),
    );
    return (alarm! - Date.now()) / day;
  };

  it('takes effect within a day when fewer days are set', async () => {
    const { token } = await newWriter();
    await write(token, 'Of three days ago');
    expect(await daysToAlarm(token)).toBeLessThanOrEqual(1);
    advanceClock(2 * day);
    expect(await runAlarm(token)).toBe(true);
    await write(token, 'Of yesterday');
    expect(await rowsIn(token)).toBe(2);

    // A deployment restarts the object with its settings.
    const changed = { ...env, CHAT_RETENTION_DAYS: '2' };
    await runInDurableObject(liveUserOf(token), (object) => {
      Object.defineProperty(object, 'env', { value: changed });
    });
    expect(await daysToAlarm(token)).toBeLessThanOrEqual(1);
    advanceClock(day);
    expect(await runAlarm(token)).toBe(true);
    expect(await textsOf({ token })).toEqual(['Of yesterday']);
  });

  it('is repeated until the object has confirmed, and spares what was written since', async () => {
    const [{ token }, other] = [await newWriter(), await newWriter()];
    await write(token, 'Before');
    // The state after the clearing request was killed behind its transaction.
    const [id, otherId, now] = [userOf(token), userOf(other.token), Date.now()];
    await clearChat(token);
    const sql =
      'insert or replace into chat_erasures (user_id, epoch, created_at, due_at) values (?, 1, ?, ?)';
    for (const each of [id, otherId]) await run(sql, each, now, now);
    await write(other.token, 'Lost with its key');
    await run('update users set chat_epoch = 1 where id = ?', otherId);
    await write(token, 'After');
    await runCron();
    expect(await rowsIn(other.token)).toBe(0);
    expect(await textsOf({ token })).toEqual(['After']);
    expect(await erasuresOf(token)).toEqual([]);
  });

  it('goes with the account, once more for a message on its way, and the number returns to an empty page', async () => {
    const { phone, token } = await newWriter();
    await write(token, 'Hello');
    await untilAccepted(phone, 1);
    expect((await deleteAccount(token)).status).toBe(200);
    await eventually(async () => expect(await rowsIn(token)).toBe(0));
    expect((await reply(phone, 'Too late')).status).toBe(404);
    await append(token, 'late');
    expect(await rowsIn(token)).toBe(1);
    await cronAfter(2 * minute);
    expect(await rowsIn(token)).toBe(0);
    expect(await erasuresOf(token)).toEqual([]);

    vi.useRealTimers();
    const again = await newPerson(phone);
    expect(await readChat(again.token)).toMatchObject({
      revision: 0,
      messages: [],
      consent: null,
    });
  });

  it('keeps a reply to a message of a deleted account from the next account of its number', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent', phone);
    const { id } = (await write(token, 'A secret')).body.message;
    await deleteAccount(token);
    const next = await newPerson(phone);
    await consent(next.token);
    const late = await reply(phone, 'About your secret', 'late', { replyTo: id });
    expect(late).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
    expect(await textsOf(next)).toEqual([]);
  });

  it('is done for a database that was restored: the conversation begins again', async () => {
    const { phone, token } = await newWriter();
    const before = await userRowOf({ phone });
    await write(token, 'Before the backup');
    await clearChat(token);
    await write(token, 'After the backup');
    const { chat_key: key, chat_epoch: epoch } = before as Record<string, string>;
    await run('update users set chat_key = ?, chat_epoch = ? where phone = ?', key!, epoch!, phone);
    expect((await call('GET', '/api/user/chat', { token })).status).toBe(503);
    await eventually(async () => expect(await readChat(token)).toMatchObject({ messages: [] }));
    expect((await write(token, 'A new beginning')).status).toBe(200);
  });

  it('comes within a day of the days that are set, for the times of cleared messages too', async () => {
    const { token } = await newWriter();
    await write(token, 'Old');
    expect(await daysToAlarm(token)).toBeCloseTo(1, 1);
    await clearChat(token);
    await eventually(async () => expect(await rowsIn(token, 'cleared_times')).toBe(1));
    await eventually(async () => expect(await daysToAlarm(token)).toBeCloseTo(1, 1));
    await write(token, 'New');
    advanceClock(day + minute);
    expect(await runAlarm(token)).toBe(true);
    expect(await rowsIn(token, 'cleared_times')).toBe(0);
    expect(await daysToAlarm(token)).toBeCloseTo(1, 1);

    advanceClock(88 * day);
    await append(token, 'newer', 1);
    const left: number[] = [];
    for (const days of [0, 2, 91]) {
      advanceClock(days * day);
      expect(await runAlarm(token)).toBe(true);
      left.push(await rowsIn(token));
    }
    expect(left).toEqual([2, 1, 0]);
    expect(await runAlarm(token)).toBe(false);
    expect(await append(token, 'newest', 1)).toMatchObject({
      outcome: 'stored',
      message: { seq: 4 },
    });
  });

  it('goes on with a wrong setting, a day later', async () => {
    const { token } = await newWriter();
    await write(token, 'Old');
    const wrong = { ...env, CHAT_RETENTION_DAYS: 'ninety' };
    await runInDurableObject(liveUserOf(token), (object) => {
      Object.defineProperty(object, 'env', { value: wrong });
    });
    expect(await runAlarm(token)).toBe(true);
    expect(logLines('retention_postponed')).toHaveLength(1);
    expect(await daysToAlarm(token)).toBeGreaterThan(0);
  });

  it('goes on after a failed check of ended sessions, which is repeated in seconds', async () => {
    const { token } = await newWriter();
    await write(token, 'Old');
    await runInDurableObject(liveUserOf(token), (_, { storage }) => {
      vi.spyOn(storage, 'get').mockRejectedValue(new Error('storage'));
    });
    expect(await runAlarm(token)).toBe(true);
    expect(logLines('background_failed')).toHaveLength(1);
    expect(logLines('retention_postponed')).toEqual([]);
    expect(await daysToAlarm(token)).toBeLessThanOrEqual((10 * second) / day);
  });
});
