import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { type ChatRow, chatKeyOf, sealMessage } from '../../worker/chat/chat-encryption.ts';
import { settingsOf } from '../../worker/settings.ts';
import { botCall, call } from './support/api.ts';
import { newWriter, readChat, reply, write } from './support/chat.ts';
import { until } from './support/clock.ts';
import { userRowOf } from './support/database.ts';
import { userOf } from './support/person.ts';
import { liveUserOf, OpenChat } from './support/streams.ts';

/** What the class `Conversation` (2026-11-22) left in the storage that `LiveUser` now has. */
const schema = [
  `create table messages (seq integer primary key, id text not null unique, author text not null,
    at integer not null, state text not null, revision integer not null, sealed blob not null)`,
  `create table head (id integer primary key, epoch integer not null, revision integer not null,
    seq integer not null, cleared_revision integer not null)`,
  'create table if not exists cleared_messages (id text primary key, at integer not null)',
];
const checkUntilKey = 'checkUntil';

const at = Date.now() - 60_000;
const earlier = [
  { seq: 4, id: 'message-1', author: 'user', state: 'delivered', revision: 7, text: 'Hello' },
  { seq: 5, id: 'reply-1', author: 'solace', state: 'delivered', revision: 8, text: 'Hi, I am Solace' },
  { seq: 6, id: 'message-2', author: 'user', state: 'failed', revision: 10, text: 'Lost' },
] as const;

/** A writer whose conversation was stored by the class of the version before. */
async function writerBeforeRename() {
  const person = await newWriter();
  const userId = userOf(person.token);
  const { chat_key: chatKey, chat_key_id: chatKeyId } = await userRowOf(person);
  const row = { id: userId, phone: person.phone, chatKey, chatKeyId, chatEpoch: 0 } as ChatRow;
  const key = (await chatKeyOf(settingsOf(env)!, row))!;
  const seal = async ({ seq, id, author, state, revision, text }: (typeof earlier)[number]) =>
    [seq, id, author, at, state, revision, await sealMessage(key, { userId, id, author }, { text })] as const;
  const rows = await Promise.all(earlier.map(seal));
  await runInDurableObject(liveUserOf(person.token), async (_, { storage }) => {
    for (const statement of schema) storage.sql.exec(statement);
    storage.sql.exec('insert or replace into head values (1, 0, 9, 6, 3)');
    for (const each of rows) storage.sql.exec('insert into messages values (?, ?, ?, ?, ?, ?, ?)', ...each);
    await storage.put(checkUntilKey, at);
    await storage.setAlarm(Date.now() + 3_600_000);
  });
  await evictDurableObject(liveUserOf(person.token));
  return person;
}

it('keeps the messages, counters, order and alarm of a conversation that the class before stored', async () => {
  const { phone, token } = await writerBeforeRename();
  const page = await readChat(token);
  expect(page.revision).toBe(10);
  expect(page.messages).toMatchObject(earlier.map(({ seq, author, state, text }) => ({ seq, author, state, text })));
  // A reader resumes after the revision that the class before sent last.
  const stream = await OpenChat.open(token, 8);
  await reply(phone, 'After the deployment');
  await stream.until(({ messages }) => messages.length === 2);
  expect(stream.events).toMatchObject(['10', '11'].map((id) => ({ id, type: 'message' })));
  expect((await write(token, 'Still here')).body.message.seq).toBe(8);

  expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
  await runInDurableObject(liveUserOf(token), async (_, { storage }) => {
    expect(await storage.getAlarm()).toBeGreaterThan(Date.now());
    expect(await storage.get(checkUntilKey)).toBeUndefined();
  });
  expect((await readChat(token)).messages).toHaveLength(5);
});

/** A Worker of the version before reaches this class for as long as its last requests run. */
it('serves a socket of the Worker before, which names its owner only when it admits the stream', async () => {
  const { phone, token } = await writerBeforeRename();
  const response = await liveUserOf(token).fetch('https://object/?after=8', { headers: { upgrade: 'websocket' } });
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
