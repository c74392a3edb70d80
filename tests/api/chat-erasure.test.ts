import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it, vi } from 'vitest';
import { call } from './support/api.ts';
import { acceptedBy, newWriter, readChat, reply, write } from './support/chat.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { liveUserOf } from './support/conversation.ts';
import { runCron } from './support/cron.ts';
import { database, userRowOf } from './support/database.ts';
import { newContact, receiveCode, userOf } from './support/person.ts';

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
    await vi.waitFor(async () => expect(await acceptedBy(phone)).toHaveLength(1), 5000);
    expect((await call('DELETE', '/api/user/me', { token })).status).toBe(200);
    await vi.waitFor(async () => expect(await rowsIn(token)).toBe(0));
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
    await vi.waitFor(async () => expect(await readChat(token)).toMatchObject({ messages: [] }));
    expect((await write(token, 'A new beginning')).status).toBe(200);
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
