import type { Conversation, Message, Person, Voice } from '../person.ts';
import { readPage } from '../load/streams.ts';
import type { World } from '../rig.ts';
import type { Site } from '../site.ts';
import { signedIn, checkCases, type Finding } from './accounts.ts';
import { createHash, createHmac } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';

type Data = { phone: string; messageId: string; seq: number; text: string; voice?: Voice };
type ChatEvent = { type: string; timestamp: string; data: Data };
type BotReply = { id: string; at: string };

/** The longest time (ms) after a clearing at which the bot may get the response to an earlier reply. */
const lateReplyMs = 30_000;

const writers = (world: World): Person[] => signedIn(world).filter(({ conversation }) => conversation.consented);

/**
 * The bot received every accepted message once, under its id, after the messages that were accepted before it, and not
 * after `chat.cleared` if the clearing removed it.
 */
export async function messagesReachedBot(world: World): Promise<Finding> {
  const events = await world.rig.control<ChatEvent[]>('GET', '/bot/events');
  const byPhone = Map.groupBy(
    events.filter(({ type }) => type === 'chat.message' || type === 'chat.cleared'),
    ({ data }) => data.phone,
  );
  const people = writers(world);
  const finding = await checkCases('accepted messages reached the bot once, by id and in order', people, (person) =>
    deliveryError(person, byPhone.get(person.phone) ?? []),
  );
  return { ...finding, checked: people.reduce((sum, { conversation }) => sum + conversation.accepted.size, 0) };
}

function deliveryError({ phone, conversation }: Person, all: ChatEvent[]): string | null {
  const events = all.filter(({ type }) => type === 'chat.message');
  const received = new Map(events.map(({ data }) => [data.messageId, data]));
  if (received.size < events.length) return `${phone}: the bot received a message under two event ids`;
  const unknown = events.find(({ data }) => !conversation.attempted.has(data.messageId));
  if (unknown) return `${phone}: the bot received ${unknown.data.messageId}, which nobody sent`;
  for (const { id, seq, text, voice } of conversation.accepted.values()) {
    const data = received.get(id);
    if (!data) return `${phone}: the bot did not receive ${id} (${seq})`;
    if (data.seq !== seq || data.text !== text) return `${phone}: the bot received ${id} with another seq or text`;
    if (data.voice?.bytes !== voice?.bytes) return `${phone}: the bot received ${id} with another recording`;
  }
  const late = lateMessage(conversation, events);
  if (late) return `${phone}: the bot received ${late.data.messageId} (${late.data.seq}) after a later message`;
  const cleared = clearedMessage(conversation, all);
  return cleared ? `${phone}: the bot received ${cleared.data.messageId} after it was cleared` : null;
}

/**
 * A message that the bot received after one that was sent only after this one was accepted. Concurrent messages have
 * no order, and a failed one that was sent again comes last.
 */
function lateMessage({ sentAt, acceptedAt, resent }: Conversation, events: ChatEvent[]): ChatEvent | undefined {
  let latest = 0;
  return events.find(({ data: { messageId } }) => {
    if (resent.has(messageId)) return false;
    const isLate = latest > (acceptedAt.get(messageId) ?? Infinity);
    latest = Math.max(latest, sentAt.get(messageId) ?? 0);
    return isLate;
  });
}

/** A message that the bot received after the clearing that removed it. Timestamps are those of the requests. */
function clearedMessage({ cleared }: Conversation, all: ChatEvent[]): ChatEvent | undefined {
  let clearedAt = '';
  return all.find(({ type, timestamp, data }) => {
    if (type === 'chat.message') return cleared.has(data.messageId) && timestamp < clearedAt;
    if (timestamp > clearedAt) clearedAt = timestamp;
    return false;
  });
}

/** The page shows every accepted message and reply once, in order, and nothing that was cleared. */
export async function pagesAreWhole(world: World): Promise<Finding> {
  let shown = 0;
  const finding = await checkCases(
    'pages show every message and reply once, in order',
    writers(world),
    async (person) => {
      const page = await readPage(world.site, person.token!);
      if (!page) return `${person.phone} could not read the page`;
      shown += page.messages.length;
      const path = `/bot/replies/${encodeURIComponent(person.phone)}`;
      return pageError(person, page.messages, await world.rig.control<BotReply[]>('GET', path));
    },
  );
  return { ...finding, checked: shown };
}

function pageError({ phone, conversation }: Person, messages: Message[], botReplies: BotReply[]): string | null {
  const { accepted, attempted, cleared, clearedAt, replies } = conversation;
  if (!isRising(messages.map(({ seq }) => seq))) return `${phone}: the page is out of order`;
  const byId = new Map(messages.map((message) => [message.id, message]));
  if (byId.size < messages.length) return `${phone}: the page shows a message twice`;
  const wrong = [...accepted.values(), ...replies].find(({ id, seq, text }) => {
    const message = byId.get(id);
    return message?.seq !== seq || typedText(message) !== text || message.state !== 'delivered';
  });
  if (wrong) return `${phone}: ${wrong.id} (${wrong.seq}) is ${JSON.stringify(byId.get(wrong.id))} on the page`;
  const foreign = messages.find(({ id, author }) => author === 'user' && (!attempted.has(id) || cleared.has(id)));
  if (foreign) return `${phone}: the page shows ${foreign.id}, which was cleared or never sent`;
  const required = botReplies.filter(({ at }) => clearedAt === 0 || Date.parse(at) > clearedAt + lateReplyMs);
  const lost = required.find(({ id }) => !byId.has(id));
  if (lost) return `${phone}: the page does not show ${lost.id}`;
  return isRising(replies.map(({ seq }) => seq)) ? null : `${phone}: replies are out of order`;
}

/** The text of a message without the transcript of its recording, which the local bot writes. */
function typedText({ author, text, voice }: Message): string {
  return author === 'user' && text === `(A voice message of ${voice?.seconds} s)` ? '' : text;
}

/** The user and the bot get every accepted recording byte by byte, the user that of each reply, and nobody a cleared one. */
export async function recordingsAreWhole(world: World): Promise<Finding> {
  const cases = writers(world).flatMap((person) =>
    [...person.conversation.recordings.keys()].map((id) => ({ person, id })),
  );
  return checkCases('recordings are whole for their user and the bot, and gone when cleared', cases, (each) =>
    recordingError(world.site, each),
  );
}

async function recordingError(site: Site, { person, id }: { person: Person; id: string }): Promise<string | null> {
  const { accepted, cleared, recordings, replies } = person.conversation;
  const isReply = replies.some((reply) => reply.id === id);
  const expected = accepted.has(id) || isReply ? recordings.get(id)!.bytes : cleared.has(id) ? 404 : null;
  if (expected === null) return null;
  const found = {
    user: await site.recording(`/api/user/chat/voice/${encodeURIComponent(id)}`, { token: person.token!, id }),
    bot: isReply ? null : await site.recording('/api/bot/voice', { phone: person.phone, id }),
  };
  for (const [who, bytes] of Object.entries(found)) {
    if (bytes === null || bytes === expected) continue;
    if (typeof bytes === 'object' && typeof expected === 'object' && bytes.equals(expected)) continue;
    const got = typeof bytes === 'object' ? `${bytes.length} other bytes` : bytes;
    return `${person.phone}: the ${who} gets ${got} for the recording ${id}`;
  }
  return null;
}

/** Every open tab shows what the page shows. */
export async function chatStreamsAgree(world: World): Promise<Finding> {
  const tabs = writers(world).flatMap((person) => person.chats.map((chat) => ({ person, chat })));
  return checkCases('open chat streams show what the page shows', tabs, async ({ person, chat }) => {
    const page = await readPage(world.site, person.token!);
    if (!chat.connected || !page) return `${person.phone}: the chat stream is not open`;
    const [onPage, inTab] = [page.messages.map(lineOf), chat.shown.map(lineOf)];
    const index = onPage.findIndex((line, place) => line !== inTab[place]);
    if (index === -1 && onPage.length === inTab.length) return null;
    return `${person.phone}: page ${onPage.length} (${onPage[index] ?? '-'}), stream ${inTab.length} (${inTab[index] ?? '-'})`;
  });
}

const lineOf = ({ id, seq, text, state, voice }: Message): string =>
  `${seq} ${id} ${state} ${voice?.bytes ?? '-'} ${text}`;
const isRising = (seqs: number[]): boolean => seqs.every((seq, index) => index === 0 || seq > seqs[index - 1]!);

/** The local bot's own store, which may contain messages. */
const ofBot = /services\.db(-wal|-shm)?$/;

/** The marker as it stands in base64, whatever precedes it: the first and the last character depend on their neighbours. */
const inBase64 = (marker: string): string[] =>
  [0, 1, 2].map((before) =>
    Buffer.from('.'.repeat(before) + marker)
      .toString('base64')
      .replace(/=+$/, '')
      .slice(Math.ceil((before * 4) / 3), -2),
  );

/** No file of the database, of the Durable Objects or of the Worker's log contains a message's text or recording. */
export async function textIsNowhere({ rig, marker }: World): Promise<Finding> {
  const entries = readdirSync(rig.stateDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !ofBot.test(entry.name));
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  const forms = [marker, ...inBase64(marker)];
  const holdsAny = (content: Buffer) => forms.some((form) => content.includes(form));
  const broken = paths.filter((path) => holdsAny(readIfThere(path))).map((path) => `found in ${path}`);
  return { what: 'files without the text or the recording of any message', checked: paths.length, broken };
}

/** SQLite may remove its temporary files while they are read. */
function readIfThere(path: string): Buffer {
  return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
}

/** How many messages the Durable Object of a conversation stores; 0 when it stores nothing. */
export function storedMessages(stateDir: string, userId: string): number {
  const file = join(stateDir, 'v3/do/solace-LiveUser', `${objectId('solace-LiveUser', userId)}.sqlite`);
  if (!existsSync(file)) return 0;
  // Reads a copy, so that the Worker's lock is not affected.
  const folder = mkdtempSync(join(tmpdir(), 'conversation-'));
  try {
    for (const suffix of ['', '-wal']) {
      if (existsSync(file + suffix)) copyFileSync(file + suffix, join(folder, `copy.sqlite${suffix}`));
    }
    return countMessages(join(folder, 'copy.sqlite'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countMessages(file: string): number {
  const database = new Database(file);
  try {
    const exists = database.prepare("select 1 from sqlite_master where name = 'messages'").get();
    return exists ? (database.prepare('select count(*) as n from messages').get() as { n: number }).n : 0;
  } finally {
    database.close();
  }
}

/** The id that workerd gives a Durable Object by its name: a keyed hash of the name, then one of that hash. */
function objectId(uniqueKey: string, name: string): string {
  const key = createHash('sha256').update(uniqueKey).digest();
  const mac = (data: string | Buffer) => createHmac('sha256', key).update(data).digest().subarray(0, 16);
  return Buffer.concat([mac(name), mac(mac(name))]).toString('hex');
}
