import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { botCall, call } from './support/api.ts';
import { newWriter, readChat, reply, untilReplied, write } from './support/chat.ts';
import { minute, until } from './support/clock.ts';
import { userOf } from './support/person.ts';
import { liveUserOf, OpenChat } from './support/streams.ts';

/** What the class `Conversation` (2026-11-22) left in the storage that `LiveUser` now has. */
const schema = [
  `create table messages (seq integer primary key, id text not null unique, author text not null,
    at integer not null, state text not null, revision integer not null, sealed blob not null)`,
  `create table head (id integer primary key, epoch integer not null, revision integer not null,
    seq integer not null, cleared_revision integer not null)`,
];
const checkUntilKey = 'checkUntil';

/** A writer with a message (revision 2) and a reply (3) that the class of the version before stored. */
async function writerBeforeRename() {
  const person = await newWriter();
  await write(person.token, 'Hello');
  await untilReplied(person, 1);
  const page = await readChat(person.token);
  await runInDurableObject(liveUserOf(person.token), async (_, { storage }) => {
    const { sql } = storage;
    const rows = [...sql.exec('select seq, id, author, at, state, revision, sealed from messages').raw()];
    for (const table of ['messages', 'head']) sql.exec(`drop table ${table}`);
    for (const statement of schema) sql.exec(statement);
    sql.exec('insert into head values (1, 0, 2, 1, 0)');
    for (const row of rows) sql.exec('insert into messages values (?, ?, ?, ?, ?, ?, ?)', ...row);
    await storage.put(checkUntilKey, Date.now() - minute);
    await storage.setAlarm(Date.now() + 60 * minute);
  });
  await evictDurableObject(liveUserOf(person.token));
  return { ...person, page };
}

it('keeps the messages, counters, order and alarm of a conversation that the class before stored', async () => {
  const { phone, token, page } = await writerBeforeRename();
  expect(await readChat(token)).toEqual(page);
  // A reader resumes after the revision that it received last.
  const stream = await OpenChat.open(token, 2);
  await reply(phone, 'After the deployment');
  await stream.until(({ messages }) => messages.length === 2);
  expect(stream.events).toMatchObject(['3', '4'].map((id) => ({ id, type: 'message' })));
  expect((await write(token, 'Still here')).body.message.seq).toBe(4);

  expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
  await runInDurableObject(liveUserOf(token), async (_, { storage }) => {
    expect(await storage.getAlarm()).toBeGreaterThan(Date.now());
    expect(await storage.get(checkUntilKey)).toBeUndefined();
  });
  expect((await readChat(token)).messages).toHaveLength(4);
});

/** A Worker of the version before reaches this class for as long as its last requests run. */
it('serves a socket of the Worker before, which names its owner only when it admits the stream', async () => {
  const { phone, token } = await writerBeforeRename();
  const response = await liveUserOf(token).fetch('https://object/?after=2', { headers: { upgrade: 'websocket' } });
  const socket = response.webSocket!;
  const changes: { kind: string }[] = [];
  const closed = Promise.withResolvers<number>();
  socket.addEventListener('message', ({ data }) => changes.push(JSON.parse(String(data))));
  socket.addEventListener('close', ({ code }) => closed.resolve(code));
  socket.accept();
  socket.send(JSON.stringify({ userId: userOf(token), sessionId: 'one' }));
  await reply(phone, 'To both versions');
  await botCall('/api/bot/typing', { phone });
  await until('four changes', () => changes.length === 4);
  expect(changes.map(({ kind }) => kind)).toEqual(['joined', 'message', 'message', 'typing']);
  await call('POST', '/api/auth/logout', { token, body: { everywhere: true } });
  expect(await closed.promise).toBe(1000);
});
