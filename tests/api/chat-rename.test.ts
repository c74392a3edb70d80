import { env } from 'cloudflare:workers';
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect, it, vi } from 'vitest';
import { chatKeyOf, sealMessage } from '../../worker/chat/chat-encryption.ts';
import type { PhoneNumber } from '../../worker/accounts/phone.ts';
import { settingsOf } from '../../worker/settings.ts';
import { botCall, call } from './support/api.ts';
import { newWriter, readChat, reply, write } from './support/chat.ts';
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
  {
    seq: 4,
    id: '11111111-1111-4111-8111-111111111111',
    author: 'user',
    state: 'delivered',
    revision: 7,
    text: 'Hello',
  },
  { seq: 5, id: 'reply-1', author: 'solace', state: 'delivered', revision: 8, text: 'Hi, I am Solace' },
  { seq: 6, id: '22222222-2222-4222-8222-222222222222', author: 'user', state: 'failed', revision: 10, text: 'Lost' },
] as const;

/** A writer whose conversation was stored by the class of the version before. */
async function writerBeforeRename() {
  const person = await newWriter();
  const userId = userOf(person.token);
  const { chat_key: chatKey, chat_key_id: chatKeyId } = (await userRowOf(person)) as Record<string, string>;
  const phone = person.phone as PhoneNumber;
  const row = { id: userId, phone, chatKey: chatKey!, chatKeyId: chatKeyId!, chatEpoch: 0 };
  const key = (await chatKeyOf(settingsOf(env)!, row))!;
  const sealed = await Promise.all(
    earlier.map(({ id, author, text }) => sealMessage(key, { userId, id, author }, { text })),
  );
  await runInDurableObject(liveUserOf(person.token), async (_, { storage }) => {
    for (const statement of schema) storage.sql.exec(statement);
    storage.sql.exec('insert or replace into head values (1, 0, 9, 6, 3)');
    for (const [index, { seq, id, author, state, revision }] of earlier.entries()) {
      const row = [seq, id, author, at, state, revision, sealed[index]!];
      storage.sql.exec('insert into messages values (?, ?, ?, ?, ?, ?, ?)', ...row);
    }
    await storage.put(checkUntilKey, at);
    await storage.setAlarm(Date.now() + 3_600_000);
  });
  await evictDurableObject(liveUserOf(person.token));
  return person;
}

it('keeps the messages, counters and order of a conversation that the class before stored', async () => {
  const person = await writerBeforeRename();
  const page = await readChat(person.token);
  expect(page.revision).toBe(10);
  expect(page.messages.map(({ seq, author, state, text }) => ({ seq, author, state, text }))).toEqual(
    earlier.map(({ seq, author, state, text }) => ({ seq, author, state, text })),
  );
  const { message } = (await write(person.token, 'Still here')).body;
  expect(message.seq).toBe(7);
  await reply(person.phone, 'So am I');
  expect((await readChat(person.token)).messages).toHaveLength(5);
});

it('resumes a reader after the revision that the class before sent last', async () => {
  const person = await writerBeforeRename();
  const stream = await OpenChat.open(person.token, 8);
  await reply(person.phone, 'After the deployment');
  await stream.until(({ messages }) => messages.length === 2);
  expect(stream.events.map(({ id, type }) => ({ id, type }))).toEqual([
    { id: '10', type: 'message' },
    { id: '11', type: 'message' },
  ]);
  stream.close();
});

it('runs the alarm that the class before set, and goes on with retention', async () => {
  const { token } = await writerBeforeRename();
  expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
  const kept = await runInDurableObject(liveUserOf(token), async (_, { storage }) => ({
    alarm: await storage.getAlarm(),
    checkUntil: await storage.get(checkUntilKey),
  }));
  expect(kept.alarm).toBeGreaterThan(Date.now());
  expect(kept.checkUntil).toBeUndefined();
  expect((await readChat(token)).messages).toHaveLength(earlier.length);
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
  await expect
    .poll(() => changes.map(({ kind }) => kind), { timeout: 30_000 })
    .toEqual(['joined', 'message', 'message', 'typing']);
  await call('POST', '/api/auth/logout', { token, body: { everywhere: true } });
  expect(await closed.promise).toBe(1000);
});

it('does not lose retention when its setting is wrong', async () => {
  const { token } = await writerBeforeRename();
  await runInDurableObject(liveUserOf(token), (object) => {
    const broken = { ...env, CHAT_RETENTION_DAYS: 'ninety' };
    Object.defineProperty(object, 'env', { value: broken });
  });
  const errors = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  expect(await runDurableObjectAlarm(liveUserOf(token))).toBe(true);
  expect(errors).toHaveBeenCalledWith(expect.stringContaining('retention_postponed'));
  const due = await runInDurableObject(liveUserOf(token), (_, { storage }) => storage.getAlarm());
  expect(due).toBeGreaterThan(Date.now());
});
