import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import type { Env } from '../../worker/env.ts';
import { botCall, call, vars } from './support/api.ts';
import { acceptedBy, consent, newWriter, OpenChat, readChat, reply, write } from './support/chat.ts';
import { advanceClock, day, minute } from './support/clock.ts';
import { runCron } from './support/cron.ts';
import { database } from './support/database.ts';
import { newContact, newPerson, receiveCode, type Person } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';

const userOf = (token: string): string =>
  JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/'))).sub;
const conversationOf = (token: string) => (env as unknown as Env).CONVERSATION.getByName(userOf(token));
const rowOf = async ({ phone }: Person) => {
  const { rows } = await database.execute({ sql: 'select * from users where phone = ?', args: [phone] });
  return rows[0]!;
};

/** Every value of every row of the database, as one text. */
async function wholeDatabase(): Promise<string> {
  const tables = await database.execute("select name from sqlite_master where type = 'table'");
  const names = tables.rows.map(({ name }) => name as string);
  const contents = await Promise.all(names.map((name) => database.execute(`select * from "${name}"`)));
  return JSON.stringify(contents.map(({ rows }) => rows));
}

/** Every value of every row of a Durable Object, with bytes as text. */
function wholeObject(token: string): Promise<string> {
  return runInDurableObject(conversationOf(token), (_, { storage }) => {
    const ours = "select name from sqlite_master where name not like '%cf_%' and name not like 'sqlite_%'";
    const names = storage.sql
      .exec<{ name: string }>(ours)
      .toArray()
      .map(({ name }) => name);
    const rows = names.flatMap((name) => storage.sql.exec(`select * from "${name}"`).toArray());
    const textOf = (value: unknown) =>
      value instanceof ArrayBuffer ? new TextDecoder().decode(value) : JSON.stringify(value);
    return rows.flatMap((row) => Object.values(row).map(textOf)).join('\n');
  });
}

describe('the text of a message', () => {
  it('stands in no row of the database and in no line of the log', async () => {
    const lines: string[] = [];
    for (const level of ['log', 'error'] as const)
      vi.spyOn(console, level).mockImplementation((line) => lines.push(line));
    const person = await newWriter();
    const { phone, token } = person;
    const stream = await OpenChat.open(token);
    const markers = ['marker-of-the-user-1', 'marker-of-the-user-2', 'marker-of-the-bot'] as const;
    await write(token, markers[0]);
    await vi.waitFor(async () => expect(await acceptedBy(phone)).toHaveLength(1), 5000);
    await reply(phone, markers[2], 'reply-1', { crisis: true });
    await reply(phone, markers[2], 'reply-1', { crisis: true });
    await sandbox.faults({ bot: { status: 503 } });
    await write(token, markers[1]);
    await readChat(token);
    await stream.until(({ messages }) => messages.some(({ text }) => text === markers[1]));
    const [kept, stored] = [await wholeDatabase(), await wholeObject(token)];
    expect(kept).toContain('chat.message');
    await sandbox.faults({ bot: null });
    for (const marker of markers) {
      expect(kept).not.toContain(marker);
      expect(kept).not.toContain(btoa(marker));
      expect(stored).not.toContain(marker);
      expect(lines.join('\n')).not.toContain(marker);
    }
    expect(stored).toContain('reply-1');
    expect(stored).not.toContain('crisis');
    expect(lines.length).toBeGreaterThan(5);
    vi.restoreAllMocks();
    stream.close();
  });

  it('is unreadable without its key, with the key of another user, and out of its place', async () => {
    const [person, other] = [await newWriter(), await newWriter()];
    await write(person.token, 'Mine');
    await write(other.token, 'Theirs');
    const setKey = (id: string, key: string) =>
      database.execute({ sql: 'update users set chat_key = ? where phone = ?', args: [key, id] });
    const [mine, theirs] = [await rowOf(person), await rowOf(other)];
    await setKey(person.phone, theirs.chat_key as string);
    expect((await call('GET', '/api/user/chat', { token: person.token })).status).toBe(503);
    await setKey(person.phone, mine.chat_key as string);
    expect((await readChat(person.token)).messages[0]!.text).toBe('Mine');
    await runInDurableObject(conversationOf(person.token), (_, { storage }) => {
      storage.sql.exec("update messages set author = 'solace'");
    });
    expect((await call('GET', '/api/user/chat', { token: person.token })).status).toBe(500);
  });
});

describe('the keys', () => {
  const fresh = 'F'.repeat(43);
  const [first, second] = vars.CHAT_KEYS!.split(' ') as [string, string];

  it('are wrapped again by the first of the ring, on use and by the hourly job', async () => {
    const [person, idle] = [await newWriter(), await newWriter()];
    for (const { token } of [person, idle]) await write(token, 'Hello');
    expect((await rowOf(person)).chat_key_id).toBe(first.split(':')[0]);
    const rotated = { CHAT_KEYS: `newest:${fresh} ${first} ${second}` };
    expect((await write(person.token, 'Again', undefined, rotated)).status).toBe(200);
    expect((await rowOf(person)).chat_key_id).toBe('newest');
    const { body } = await call('GET', '/api/user/chat', {
      token: person.token,
      settings: { CHAT_KEYS: `newest:${fresh}` },
    });
    expect(body.messages[0].text).toBe('Hello');

    const retired = second.split(':')[0]!;
    const backwards = { CHAT_KEYS: `${second} ${first} newest:${fresh}` };
    await call('PUT', '/api/user/chat/consent', {
      token: (await newPerson()).token,
      body: { version: 'x' },
      settings: backwards,
    });
    await runCron('0 * * * *');
    const { rows } = await database.execute({ sql: 'select 1 from users where chat_key_id = ?', args: [retired] });
    expect(rows).toEqual([]);
  });

  it('make the conversation unavailable when the one that wraps it is missing', async () => {
    const { token } = await newWriter();
    await write(token, 'Hello');
    const settings = { CHAT_KEYS: `newest:${fresh}` };
    expect((await call('GET', '/api/user/chat', { token, settings })).status).toBe(503);
    expect((await write(token, 'Hello again', undefined, settings)).status).toBe(503);
    expect((await readChat(token)).messages).toHaveLength(1);
  });

  it('are other ones after the conversation was cleared', async () => {
    const person = await newWriter();
    const before = (await rowOf(person)).chat_key;
    await call('DELETE', '/api/user/chat', { token: person.token });
    const after = await rowOf(person);
    expect(after.chat_key).not.toBe(before);
    expect(after.chat_key).not.toBeNull();
    await call('DELETE', '/api/user/chat/consent', { token: person.token });
    expect(await rowOf(person)).toMatchObject({ chat_key: null, chat_key_id: null, chat_consent_version: null });
  });
});

describe('erasing', () => {
  const erasures = async () => (await database.execute('select * from chat_erasures')).rows;
  const rowsIn = (token: string) =>
    runInDurableObject(conversationOf(token), (_, { storage }) => {
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
    await runInDurableObject(conversationOf(token), (object) => {
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
    const before = await rowOf(person);
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
    await runInDurableObject(conversationOf(token), (object) => {
      const sealed = new ArrayBuffer(40);
      return object.append(0, { id: 'new', author: 'user' as const, sealed, notAfter: Date.now() + 5000 });
    });
    expect(await runDurableObjectAlarm(conversationOf(token))).toBe(true);
    expect(await rowsIn(token)).toBe(2);
    advanceClock(2 * day);
    expect(await runDurableObjectAlarm(conversationOf(token))).toBe(true);
    expect(await rowsIn(token)).toBe(1);
    advanceClock(91 * day);
    expect(await runDurableObjectAlarm(conversationOf(token))).toBe(true);
    expect(await rowsIn(token)).toBe(0);
    expect(await runDurableObjectAlarm(conversationOf(token))).toBe(false);
    const appended = await runInDurableObject(conversationOf(token), (object) =>
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

it("keeps each user's conversation apart", async () => {
  const [one, other] = [await newWriter(), await newWriter()];
  const { message } = (await write(one.token, 'Mine')).body;
  expect((await write(other.token, 'Theirs', message.id)).body.message).toMatchObject({ seq: 1, text: 'Theirs' });
  expect((await readChat(other.token)).messages.map(({ text }) => text)).toEqual(['Theirs']);
  expect((await readChat(one.token)).messages.map(({ text }) => text)).toEqual(['Mine']);
  await consent(one.token, 'newer');
  await botCall('/api/bot/messages', { phone: one.phone, id: 'reply-1', text: 'For one' });
  expect((await readChat(other.token)).messages).toHaveLength(1);
});
