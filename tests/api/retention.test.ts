import { describe, expect, it } from 'vitest';
import { botCall, call, runCron } from './support/api.ts';
import { newSubscriber } from './support/buying.ts';
import { advanceClock, day, eventually } from './support/clock.ts';
import { watchDatabase } from './support/requests.ts';
import { database } from './support/database.ts';
import { externalSession, newPerson, userOf, deleteAccount, type Person } from './support/person.ts';
import { deliveredEvents, sandbox } from './support/sandbox.ts';
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import {
  untilState,
  reply,
  fetchRecording,
  newSpeaker,
  readBytes,
  recordingOf,
  sendRecording,
} from './support/chat.ts';
import { liveUserOf } from './support/streams.ts';

const hourly = '0 * * * *';
const row = async (phone: string) =>
  (await database.execute({ sql: 'select * from users where phone = ?', args: [phone] })).rows[0];
/** Moves every use of the account so many days back, and makes its review due. */
async function age(phone: string, days: number): Promise<void> {
  const columns = ['created_at', 'contacted_at', 'last_contact_at', 'last_seen_at', 'week_start', 'week_anchor'];
  const earlier = [...columns, 'retention_notice_at'].map((column) => `${column} = ${column} - ${days * day}`);
  const sql = `update users set ${earlier.join(', ')}, retention_due_at = 0 where phone = ?`;
  await database.execute({ sql, args: [phone] });
}

async function review(): Promise<void> {
  await runCron(hourly);
  await runCron();
}

describe('an unused account', () => {
  it('is announced to the bot, and deleted 30 days later like one that its user deletes', async () => {
    advanceClock(0);
    const { phone, token } = await newPerson();
    await age(phone, 701);
    await review();
    const deletesAt = new Date(Date.now() + 30 * day).toISOString();
    const notice = { type: 'user.unused', data: { phone, userId: userOf(token), deletesAt } };
    expect(await deliveredEvents(phone)).toMatchObject([notice]);
    await review();
    expect(await deliveredEvents(phone)).toHaveLength(1);
    await age(phone, 31);
    await review();
    expect(await row(phone)).toBeUndefined();
    expect((await call('GET', '/api/user/me', { token })).status).toBe(401);
    expect((await deliveredEvents(phone)).map(({ type }) => type)).toEqual(['user.unused', 'user.deleted']);
  });

  it('stays when its user writes or signs in after the notice', async () => {
    const [writer, visitor] = [await newPerson(), await newPerson()];
    for (const { phone } of [writer, visitor]) await age(phone, 701);
    await review();
    for (const { phone } of [writer, visitor]) await age(phone, 31);
    await botCall('/api/bot/contacts', { phone: writer.phone });
    await externalSession(visitor.phone);
    await review();
    expect(await row(writer.phone)).toBeDefined();
    expect(await row(visitor.phone)).toBeDefined();
  });

  it('stays while the bot has not accepted the notice', async () => {
    const { phone } = await newPerson();
    await age(phone, 701);
    await sandbox.faults({ bot: { status: 500, match: phone } });
    await review();
    await age(phone, 31);
    await review();
    expect(await row(phone)).toBeDefined();
  });
});

describe('an account in use', () => {
  it('is not announced, and its next review is set', async () => {
    const { phone } = await newPerson();
    await age(phone, 600);
    await review();
    expect(await deliveredEvents(phone)).toEqual([]);
    const dueIn = Number((await row(phone))!.retention_due_at) - Date.now();
    expect(dueIn).toBeGreaterThan(99 * day);
    expect(dueIn).toBeLessThan(101 * day);
  });

  it('with a subscription stays, however long nobody has written', async () => {
    const { phone } = await newSubscriber('basic');
    await age(phone, 2000);
    await review();
    await age(phone, 31);
    await review();
    expect(await row(phone)).toBeDefined();
    expect((await deliveredEvents(phone)).map(({ type }) => type)).not.toContain('user.unused');
  });
});

type Perishable = [table: string, key: string, keptMs: number, row: (n: number, at: number) => (string | number)[]];

/** Each table whose rows end: its key, how long (ms) they are kept, and a row by its number and its instant. */
const perishable: Perishable[] = [
  ['codes', 'phone', 0, (n, at) => [`+swept${n}`, 'mac', 'by', at, 5, '', '']],
  ['rate_limit_events', 'subject', day, (n, at) => [`swept:${n}`, at, 'by']],
  ['bot_calls', 'id', 7 * day, (n, at) => [`swept_${n}`, 'fingerprint', 'by', at, '{}']],
  ['stripe_events', 'id', 30 * day, (n, at) => [`swept_${n}`, 'type', 'by', at]],
  ['sessions', 'id', 30 * day, (n, at) => [`swept_${n}`, 'nobody', at, at + 30 * day, at, 0]],
  ['used_tokens', 'id', 0, (n, at) => [`swept_${n}`, 'by', at]],
  ['left_weeks', 'phone_mac', 0, (n, at) => [`swept_${n}`, 1, at]],
  ['link_codes', 'mac', 0, (n, at) => [`swept_${n}`, '+1', '1', `swept_${n}`, at, '', `swept_${n}`, 'en']],
  ['phone_changes', 'id', 0, (n, at) => [`swept_${n}`, 'nobody', '+1', '1', 'mac', at, 5, '', '']],
  ['trial_links', 'mac', 0, (n, at) => [`swept_${n}`, 'nobody', 'mac', 'basic', 1, at, '']],
];

/** Inserts rows before all others, since older rows precede newer ones. */
async function put(table: string, rows: (string | number)[][]): Promise<void> {
  const [first] = (await database.execute(`select coalesce(min(rowid), 0) as rowid from ${table}`)).rows;
  const before = Number(first!.rowid) - rows.length;
  const { columns } = await database.execute(`select * from ${table} limit 0`);
  const sql = `insert into ${table} (rowid, ${columns.join(', ')}) values (?, ${columns.map(() => '?').join(', ')})`;
  await database.batch(
    rows.map((row, index) => ({ sql, args: [before + index, ...row] })),
    'write',
  );
}

async function left(table: string, key: string): Promise<number> {
  const { rows } = await database.execute(`select count(*) as rows from ${table} where ${key} like '%swept%'`);
  return Number(rows[0]!.rows);
}

const countOf = (most: number) => Array.from({ length: most }, (_, index) => index);

it.each(perishable)('deletes the expired rows of %s, and no others', async (table, key, keptMs, row) => {
  advanceClock(0);
  const end = Date.now() - keptMs;
  await put(table, [row(1, end - 60_000), row(2, end - 1000), row(3, end + 60_000)]);
  await runCron();
  expect(await left(table, key)).toBe(1);
  await database.execute(`delete from ${table} where ${key} like '%swept%'`);
});

it.each(perishable)('deletes thousands of rows of %s in a minute, in batches', async (table, key, keptMs, row) => {
  const longAgo = Date.now() - keptMs - day;
  await put(
    table,
    countOf(3000).map((n) => row(n, longAgo + n)),
  );
  const requests = watchDatabase(`delete from \\"${table}\\"`);
  await runCron();
  expect(await left(table, key)).toBe(0);
  expect(requests.length).toBeGreaterThan(5);
});

/** The sizes of the recordings in a live object; null without the table. */
function sizesIn(token: string): Promise<number[] | null> {
  return runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
    if (sql.exec("select 1 from sqlite_master where name = 'recordings'").toArray().length === 0) return null;
    return sql
      .exec<{ size: number }>('select length(sealed) as size from recordings')
      .toArray()
      .map(({ size }) => size);
  });
}

/** Nonce and authentication tag. */
const overhead = 28;

async function withRecording(): Promise<Person & { id: string; bytes: Uint8Array }> {
  const person = await newSpeaker();
  const recording = recordingOf('audio/ogg', 3000);
  const { body } = await sendRecording(person.token, recording, { seconds: 5 });
  return { ...person, id: body.message.id, bytes: new Uint8Array(recording.bytes) };
}

describe('a recording', () => {
  it('is part of the export, as base64', async () => {
    const { phone, token, id, bytes } = await withRecording();
    await botCall('/api/bot/transcripts', { phone, id, text: 'What I said' });
    const voice = { type: 'audio/ogg', seconds: 2, data: btoa(String.fromCharCode(...bytes)) };
    await reply(phone, 'What Solace said', 'reply-1', { voice });
    const { status, headers, body } = await call('GET', '/api/user/export', { token });
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toMatch(/^attachment; /);
    expect(body.conversation.map(({ text }: { text: string }) => text)).toEqual(['What I said', 'What Solace said']);
    expect(body.recordings).toEqual([
      { id, author: 'user', type: 'audio/ogg', seconds: 5, data: voice.data },
      { id: 'reply-1', author: 'solace', ...voice },
    ]);
    const other = await newSpeaker();
    expect((await call('GET', '/api/user/export', { token: other.token })).body.recordings).toEqual([]);
  });

  it('is stored as ciphertext alone, in the live object alone', async () => {
    const { token, id, bytes } = await withRecording();
    await untilState(token, id, 'delivered');
    const stored = await runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
      const rows = sql.exec<{ sealed: ArrayBuffer }>('select sealed from recordings').toArray();
      return rows.map(({ sealed }) => [...new Uint8Array(sealed)]);
    });
    expect(stored.map(({ length }) => length)).toEqual([3000 + overhead]);
    // A part that no chance repeats.
    const part = bytes.slice(1000, 1016).join();
    expect(bytes.join()).toContain(part);
    expect(stored[0]!.join()).not.toContain(part);
    const { rows } = await database.execute("select name from sqlite_master where type = 'table'");
    const encoded = btoa(String.fromCharCode(...bytes.slice(999, 1029)));
    for (const name of rows.map((row) => row['name'] as string)) {
      const found = await database.execute(`select * from "${name}"`);
      expect(JSON.stringify(found.rows), name).not.toContain(encoded);
    }
  });

  it('cannot be read in the place of another', async () => {
    const { token, id, bytes } = await withRecording();
    const other = await sendRecording(token, recordingOf('audio/ogg', 3000));
    expect(await readBytes(await fetchRecording(token, id))).toEqual(bytes);
    await runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
      sql.exec('update recordings set sealed = (select sealed from recordings where seq = 1) where seq = 2');
    });
    expect((await fetchRecording(token, other.body.message.id)).status).toBe(500);
  });

  it('is erased with the conversation', async () => {
    const { token } = await withRecording();
    await call('DELETE', '/api/user/chat', { token });
    await eventually(async () => expect(await sizesIn(token)).toEqual([]));
  });

  it('is erased with the account', async () => {
    const { token } = await withRecording();
    expect((await deleteAccount(token)).status).toBe(200);
    await eventually(async () => expect(await sizesIn(token)).toBeNull());
  });

  it('is kept as long as messages are, and no longer', async () => {
    const { token } = await withRecording();
    expect(await sizesIn(token)).toEqual([3000 + overhead]);
    advanceClock(89 * day);
    const append = { id: 'new', author: 'user' as const, sealed: new ArrayBuffer(40), notAfter: Date.now() + 5000 };
    await runInDurableObject(liveUserOf(token), (object) =>
      object.append(0, { ...append, recording: new ArrayBuffer(9) }),
    );
    await runDurableObjectAlarm(liveUserOf(token));
    expect(await sizesIn(token)).toEqual([3000 + overhead, 9]);
    advanceClock(2 * day);
    await runDurableObjectAlarm(liveUserOf(token));
    expect(await sizesIn(token)).toEqual([9]);
  });
});
