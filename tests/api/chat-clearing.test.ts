import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { call, runCron } from './support/api.ts';
import { untilRetried, acceptedBy, newWriter, readChat, reply, untilReplied, write } from './support/chat.ts';
import { advanceClock, day, minute, eventually } from './support/clock.ts';
import { database, userRowOf } from './support/database.ts';
import { newContact, receiveCode, userOf } from './support/person.ts';
import { eventsAbout, sandbox } from './support/sandbox.ts';
import { liveUserOf, OpenChat } from './support/streams.ts';

describe('clearing', () => {
  it('empties the conversation everywhere; consent, seq and revision go on', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    const stream = await OpenChat.open(token);
    await write(token, 'Hello');
    await untilReplied(person, 1);
    const before = await readChat(token);
    expect((await call('DELETE', '/api/user/chat', { token })).body).toEqual({ success: true });
    const after = await readChat(token);
    expect(after).toMatchObject({ messages: [], hasMore: false, consent: before.consent });
    expect(after.revision).toBe(before.revision + 1);
    await stream.until(({ events }) => events.some(({ type }) => type === 'cleared'));
    const { message } = (await write(token, 'A new beginning')).body;
    expect(message.seq).toBe(3);
    await stream.until(({ messages }) => messages.some(({ text }) => text === 'A new beginning'));
    await eventually(async () => expect(await eventsAbout(phone, 'chat.cleared')).toHaveLength(1));
    const late = await OpenChat.open(token, 1);
    await late.until(({ messages }) => messages.length > 0);
    expect(late.events[0]).toMatchObject({ id: String(after.revision), type: 'cleared' });
    expect(late.messages.map(({ text }) => text)).not.toContain('Hello');
    for (const each of [stream, late]) each.close();
  });

  it('refuses a reply to a message that was cleared, also when it comes again', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Never mind')).body;
    await call('DELETE', '/api/user/chat', { token });
    const late = { replyTo: message.id };
    const refusal = { status: 409, body: { code: 'conflict', message: 'The person has cleared this message.' } };
    expect(await reply(phone, 'About that', 'late-1', late)).toMatchObject(refusal);
    expect(await reply(phone, 'About that', 'late-1', late)).toMatchObject(refusal);
    expect((await readChat(token)).messages).toEqual([]);
    await call('DELETE', '/api/user/chat', { token });
    expect(await reply(phone, 'About that', 'late-2', late)).toMatchObject(refusal);
    for (const accepted of [{}, { replyTo: 'wamid.elsewhere' }])
      expect(await reply(phone, 'By the way', undefined, accepted)).toMatchObject({ status: 200 });
    expect((await readChat(token)).messages.map(({ text }) => text)).toEqual(['By the way', 'By the way']);
  });

  it('stores no reply a second time that the person has cleared with its message', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Hello')).body;
    const again = () => reply(phone, 'Hello to you', 'first', { replyTo: message.id });
    expect(await again()).toMatchObject({ status: 200 });
    await call('DELETE', '/api/user/chat', { token });
    expect(await again()).toMatchObject({ status: 409 });
    expect((await readChat(token)).messages).toEqual([]);
  });

  it('accepts a reply to a message that is sent again under its id after the clearing', async () => {
    const { phone, token } = await newWriter();
    await sandbox.botMode('silent');
    const { message } = (await write(token, 'Hello')).body;
    await call('DELETE', '/api/user/chat', { token });
    await write(token, 'Hello', message.id);
    expect(await reply(phone, 'Hello to you', 'first', { replyTo: message.id })).toMatchObject({ status: 200 });
  });

  it('withdraws the messages that wait for the bot', async () => {
    const { phone, token } = await newWriter();
    await eventually(async () => expect(await eventsAbout(phone, 'chat.consent')).toHaveLength(1));
    await sandbox.faults({ bot: { status: 503, match: phone.slice(1) } });
    await write(token, 'Never mind');
    await write(token, 'Nor this');
    await untilRetried(phone);
    await call('DELETE', '/api/user/chat', { token });
    await sandbox.faults({ bot: null });
    advanceClock(5 * minute);
    await runCron();
    expect(await acceptedBy(phone)).toEqual([]);
    expect(await eventsAbout(phone, 'chat.cleared')).toHaveLength(1);
  });
});

describe('erasing', () => {
  const erasures = async () => (await database.execute('select * from chat_erasures')).rows;
  const rowsIn = (token: string) =>
    runInDurableObject(liveUserOf(token), (_, { storage }) => {
      const tables = storage.sql.exec("select 1 from sqlite_master where name = 'messages'").toArray();
      return tables.length === 0 ? 0 : Number(storage.sql.exec('select count(*) as n from messages').one().n);
    });

  it('is repeated until the object has confirmed, and spares what was written since', async () => {
    const person = await newWriter();
    const { token } = person;
    await write(token, 'Before');
    // The state after the clearing request was killed behind its transaction.
    const id = userOf(token);
    const now = Date.now();
    const other = await newWriter();
    await call('DELETE', '/api/user/chat', { token });
    await database.execute({
      sql: 'insert or replace into chat_erasures (user_id, epoch, created_at, due_at) values (?, 1, ?, ?), (?, 1, ?, ?)',
      args: [id, now, now, userOf(other.token), now, now],
    });
    await write(other.token, 'Lost with its key');
    await database.execute({ sql: 'update users set chat_epoch = 1 where id = ?', args: [userOf(other.token)] });
    await write(token, 'After');
    await runCron();
    expect(await rowsIn(other.token)).toBe(0);
    expect((await readChat(token)).messages.map(({ text }) => text)).toEqual(['After']);
    expect((await erasures()).filter(({ user_id }) => user_id === id)).toEqual([]);
  });

  it('goes with the account, once more for a message on its way, and the number returns to an empty page', async () => {
    const person = await newWriter();
    const { phone, token } = person;
    await write(token, 'Hello');
    await eventually(async () => expect(await acceptedBy(phone)).toHaveLength(1));
    expect((await call('DELETE', '/api/user/me', { token })).status).toBe(200);
    await eventually(async () => expect(await rowsIn(token)).toBe(0));
    expect((await reply(phone, 'Too late')).status).toBe(404);
    await runInDurableObject(liveUserOf(token), (object) => {
      const late = { id: 'late', author: 'user' as const, sealed: new ArrayBuffer(40), notAfter: Date.now() + 5000 };
      return object.append(0, late);
    });
    expect(await rowsIn(token)).toBe(1);
    advanceClock(2 * minute);
    await runCron();
    expect(await rowsIn(token)).toBe(0);
    expect((await erasures()).filter(({ user_id }) => user_id === userOf(token))).toEqual([]);

    vi.useRealTimers();
    const contact = await newContact(phone);
    const otp = await receiveCode(contact);
    const { body } = await call('POST', '/api/auth/verify-otp', { body: { phone, otp }, address: contact.address });
    expect(await readChat(body.token)).toMatchObject({ revision: 0, messages: [], consent: null });
  });

  it('is done for a database that was restored: the conversation begins again', async () => {
    const person = await newWriter();
    const { token } = person;
    const before = await userRowOf(person);
    await write(token, 'Before the backup');
    await call('DELETE', '/api/user/chat', { token });
    await write(token, 'After the backup');
    await database.execute({
      sql: 'update users set chat_key = ?, chat_epoch = ? where phone = ?',
      args: [before.chat_key as string, before.chat_epoch as number, person.phone],
    });
    expect((await call('GET', '/api/user/chat', { token })).status).toBe(503);
    await eventually(async () => expect(await readChat(token)).toMatchObject({ messages: [] }));
    expect((await write(token, 'A new beginning')).status).toBe(200);
  });

  it('comes within a day of the days that are set, for the ids of cleared messages too', async () => {
    const { token } = await newWriter();
    await write(token, 'Old');
    const alarm = () => runInDurableObject(liveUserOf(token), (_, { storage }) => storage.getAlarm());
    const ids = () =>
      runInDurableObject(liveUserOf(token), (_, { storage }) =>
        storage.sql.exec('select id from cleared_messages').toArray(),
      );
    expect(((await alarm())! - Date.now()) / day).toBeCloseTo(90, 1);
    await call('DELETE', '/api/user/chat', { token });
    await eventually(async () => expect(await ids()).toHaveLength(1));
    await eventually(async () => expect(((await alarm())! - Date.now()) / day).toBeCloseTo(1, 1));
    await write(token, 'New');
    advanceClock(day + minute);
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
    expect(await ids()).toEqual([]);
    expect(((await alarm())! - Date.now()) / day).toBeCloseTo(89, 1);
  });

  it('goes on after an alarm that failed', async () => {
    const { token } = await newWriter();
    await write(token, 'Old');
    await runInDurableObject(liveUserOf(token), (_, { storage }) => {
      vi.spyOn(storage, 'get').mockImplementation(() => Promise.reject(new Error('storage')));
    });
    const errors = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
    expect(errors).toHaveBeenCalledWith(expect.stringContaining('retention_postponed'));
    const alarm = await runInDurableObject(liveUserOf(token), (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeGreaterThan(Date.now());
  });

  it('comes after the days that are set', async () => {
    const { token } = await newWriter();
    await write(token, 'Old');
    advanceClock(89 * day);
    const { body } = await write(token, 'New');
    // The session of thirty days has ended.
    expect(body.code).toBe('unauthenticated');
    await runInDurableObject(liveUserOf(token), (object) => {
      const sealed = new ArrayBuffer(40);
      return object.append(0, { id: 'new', author: 'user' as const, sealed, notAfter: Date.now() + 5000 });
    });
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
    expect(await rowsIn(token)).toBe(2);
    advanceClock(2 * day);
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
    expect(await rowsIn(token)).toBe(1);
    advanceClock(91 * day);
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
    expect(await rowsIn(token)).toBe(0);
    expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(false);
    const appended = await runInDurableObject(liveUserOf(token), (object) =>
      object.append(0, {
        id: 'newest',
        author: 'user' as const,
        sealed: new ArrayBuffer(40),
        notAfter: Date.now() + 5000,
      }),
    );
    expect(appended).toMatchObject({ outcome: 'stored', message: { seq: 3 } });
  });
});
