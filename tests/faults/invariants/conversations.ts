import { createHash, createHmac } from 'node:crypto';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { isNull } from 'drizzle-orm';
import { outbox } from '#db/schema';
import { planOf } from '../../../worker/contract/plans.ts';
import { readPage } from '../load/streams.ts';
import type { Conversation, Message, Person, Recording } from '../person.ts';
import type { World, Rig } from '../rig.ts';
import type { Answer, Site, Json } from '../site.ts';
import { signedIn, checkCases, type Finding, accountsIn, type Account } from './accounts.ts';

/** The longest time (ms) after a clearing at which the bot may get the response to an earlier reply. */
const lateReplyMs = 30_000;

const writers = (world: World): Person[] =>
  signedIn(world).filter(({ conversation }) => conversation.consented);

/**
 * The bot received every accepted message once, under its id, after the messages that were accepted before it, and not
 * after `chat.cleared` if the clearing removed it.
 */
export async function messagesReachedBot(world: World): Promise<Finding> {
  const events = await botEventsIn(world.rig);
  const people = writers(world);
  const finding = await checkCases(
    'accepted messages reached the bot once, by id and in order',
    people,
    (person) =>
      deliveryError(
        person.conversation,
        events.get(person.phone) ?? [],
        `${person.phone}: the bot received`,
      ),
  );
  return {
    ...finding,
    checked: people.reduce((sum, { conversation }) => sum + conversation.accepted.length, 0),
  };
}

function deliveryError(
  conversation: Conversation,
  all: BotEvent[],
  received: string,
): string | null {
  const messages = all.filter(({ type }) => type === 'chat.message').map(({ data }) => data);
  const byId = new Map(messages.map((data) => [data.messageId, data]));
  if (byId.size < messages.length) return `${received} a message under two event ids`;
  const unknown = messages.find(({ messageId }) => !conversation.sent.has(messageId));
  if (unknown) return `${received} ${unknown.messageId}, which nobody sent`;
  for (const { id, seq, text, voice } of conversation.accepted) {
    const data = byId.get(id);
    if (!data) return `${received} no ${id} (${seq})`;
    if (data.seq !== seq || data.text !== text) return `${received} ${id} with another seq or text`;
    if (data.voice?.bytes !== voice?.bytes) return `${received} ${id} with another recording`;
  }
  const ids = messages.map(({ messageId }) => messageId as string);
  const late = lateMessage(conversation, ids);
  if (late) return `${received} ${late} (${byId.get(late)!.seq}) after a later message`;
  const cleared = clearedMessage(conversation, all);
  return cleared ? `${received} ${cleared.data.messageId} after it was cleared` : null;
}

/**
 * A message that the bot received after one that was sent only after this one was accepted. Concurrent messages have
 * no order, and a failed one that was sent again comes last.
 */
function lateMessage({ sent }: Conversation, received: string[]): string | undefined {
  let latest = 0;
  return received.find((id) => {
    const { sentAt, acceptedAt = Infinity, isResent } = sent.get(id)!;
    if (isResent) return false;
    const isLate = latest > acceptedAt;
    latest = Math.max(latest, sentAt);
    return isLate;
  });
}

/** A message that the bot received after the clearing that removed it. Timestamps are those of the requests. */
function clearedMessage({ sent }: Conversation, all: BotEvent[]): BotEvent | undefined {
  let clearedAt = '';
  return all.find(({ type, timestamp, data }) => {
    if (type === 'chat.message')
      return sent.get(data.messageId)?.clearing === 'removed' && timestamp < clearedAt;
    if (type === 'chat.cleared' && timestamp > clearedAt) clearedAt = timestamp;
    return false;
  });
}

export async function pagesAreWhole(world: World): Promise<Finding> {
  const { rig, site } = world;
  let shown = 0;
  const what = 'pages show every message and reply once, in order';
  const finding = await checkCases(what, writers(world), async (each) => {
    const page = await readPage(site, each.token!);
    if (!page) return `${each.phone} could not read the page`;
    shown += page.messages.length;
    const replies = await rig.control<BotReply[]>(
      'GET',
      `/bot/replies/${encodeURIComponent(each.phone)}`,
    );
    const error = pageError(each.conversation, page.messages, replies);
    return error && `${each.phone}: ${error}`;
  });
  return { ...finding, checked: shown };
}

type BotReply = { id: string; at: string };

function pageError(
  conversation: Conversation,
  messages: readonly Message[],
  botReplies: BotReply[],
): string | null {
  const { accepted, sent, clearedAt, replies } = conversation;
  if (!isRising(messages)) return 'the page is out of order';
  const byId = new Map(messages.map((message) => [message.id, message]));
  if (byId.size < messages.length) return 'the page shows a message twice';
  const wrong = [...accepted, ...replies].find(({ id, seq, text }) => {
    const message = byId.get(id);
    return message?.seq !== seq || typedText(message) !== text || message.state !== 'delivered';
  });
  if (wrong)
    return `${wrong.id} (${wrong.seq}) is ${JSON.stringify(byId.get(wrong.id))} on the page`;
  const mayShow = (id: string) => sent.has(id) && sent.get(id)!.clearing !== 'removed';
  const foreign = messages.find(({ id, author }) => author === 'user' && !mayShow(id));
  if (foreign) return `the page shows ${foreign.id}, which was cleared or never sent`;
  const required = botReplies.filter(
    ({ at }) => clearedAt === 0 || Date.parse(at) > clearedAt + lateReplyMs,
  );
  const lost = required.find(({ id }) => !byId.has(id));
  if (lost) return `the page does not show ${lost.id}`;
  return isRising(replies) ? null : 'replies are out of order';
}

/** The text of a message without the transcript of its recording, which the local bot writes. */
function typedText({ author, text, voice }: Message): string {
  return author === 'user' && text === `(A voice message of ${voice?.seconds} s)` ? '' : text;
}

export async function recordingsAreWhole(world: World): Promise<Finding> {
  const cases = writers(world).flatMap((person) => {
    const { sent, replies } = person.conversation;
    const known = [
      ...sent.values(),
      ...replies.map((reply) => ({
        ...reply,
        accepted: reply,
      })),
    ];
    return known.flatMap((each) =>
      each.recording
        ? {
            person,
            ...each,
            recording: each.recording,
          }
        : [],
    );
  });
  return checkCases(
    'recordings are whole for their user and the bot, and gone when cleared',
    cases,
    (each) => recordingError(world.site, each),
  );
}

type Spoken = {
  person: Person;
  id: string;
  recording: Recording;
  accepted?: Message | undefined;
  clearing?: string;
};

async function recordingError(site: Site, { person, id, recording, accepted, clearing }: Spoken) {
  if (!accepted && clearing !== 'removed') return null;
  const { token, phone } = person;
  const got = [
    {
      who: 'user',
      ...(await site.call('getVoice', {
        token,
        id,
      })),
    },
  ];
  if (accepted?.author !== 'solace') {
    const answer = await site.bot('botVoice', person.nextId('fetch'), {
      phone,
      id,
    });
    got.push({ who: 'bot', ...answer });
  }
  const isRight = ({ status, bytes }: Answer) =>
    accepted ? status === 200 && bytes.equals(recording.bytes) : status === 404;
  const wrong = got.find((answer) => !isRight(answer));
  return wrong
    ? `${phone}: the ${wrong.who} gets ${wrong.status} and other bytes for the recording ${id}`
    : null;
}

export async function chatStreamsAgree(world: World): Promise<Finding> {
  const tabs = writers(world).flatMap((person) =>
    person.chats.map((chat) => ({
      person,
      chat,
    })),
  );
  return checkCases(
    'open chat streams show what the page shows',
    tabs,
    async ({ person, chat }) => {
      const page = await readPage(world.site, person.token!);
      if (!chat.isOpen || !page) return `${person.phone}: the chat stream is not open`;
      const [onPage, inTab] = [page.messages.map(lineOf), chat.shown.map(lineOf)];
      const index = onPage.findIndex((line, place) => line !== inTab[place]);
      if (index === -1 && onPage.length === inTab.length) return null;
      return `${person.phone}: page ${onPage.length} (${onPage[index] ?? '-'}), stream ${inTab.length} (${inTab[index] ?? '-'})`;
    },
  );
}

const lineOf = ({ id, seq, text, state, voice }: Message): string =>
  `${seq} ${id} ${state} ${voice?.bytes ?? '-'} ${text}`;
const isRising = (messages: readonly Message[]): boolean =>
  messages.every(({ seq }, index) => index === 0 || seq > messages[index - 1]!.seq);

/** The local bot's own store, which may contain messages. */
const ofBot = /services\.db(-wal|-shm)?$/;

/** The marker as it stands in base64, whatever precedes it: the first and the last character depend on their neighbours. */
const inBase64 = (marker: string): string[] =>
  [0, 1, 2].map((before) => {
    const encoded = Buffer.from('.'.repeat(before) + marker).toString('base64');
    return encoded.replace(/=+$/, '').slice(Math.ceil((before * 4) / 3), -2);
  });

export async function textIsNowhere({ rig, marker }: World): Promise<Finding> {
  const entries = readdirSync(rig.stateDir, {
    recursive: true,
    withFileTypes: true,
  });
  const files = entries.filter((entry) => entry.isFile() && !ofBot.test(entry.name));
  const forms = [marker, ...inBase64(marker)];
  return checkCases(
    'files without the text or the recording of any message',
    files,
    ({ parentPath, name }) => {
      const path = join(parentPath, name);
      // SQLite may remove its temporary files while they are read.
      const content = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
      return forms.some((form) => content.includes(form)) ? `found in ${path}` : null;
    },
  );
}

export function storedMessages(stateDir: string, userId: string): number {
  const file = join(
    stateDir,
    'v3/do/solace-LiveUser',
    `${objectId('solace-LiveUser', userId)}.sqlite`,
  );
  if (!existsSync(file)) return 0;
  // Reads a copy, so that the Worker's lock is not affected.
  const folder = mkdtempSync(join(tmpdir(), 'conversation-'));
  const copy = join(folder, 'copy.sqlite');
  copyFileSync(file, copy);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
  const database = new Database(copy);
  const exists = database.prepare("select 1 from sqlite_master where name = 'messages'").get();
  const count = exists
    ? (database.prepare('select count(*) as n from messages').get() as { n: number }).n
    : 0;
  database.close();
  rmSync(folder, { recursive: true, force: true });
  return count;
}

/** The id that workerd gives a Durable Object by its name: a keyed hash of the name, then one of that hash. */
function objectId(uniqueKey: string, name: string): string {
  const key = createHash('sha256').update(uniqueKey).digest();
  const mac = (data: string | Buffer) =>
    createHmac('sha256', key).update(data).digest().subarray(0, 16);
  return Buffer.concat([mac(name), mac(mac(name))]).toString('hex');
}

export type BotEvent = {
  type: string;
  timestamp: string;
  data: Json;
};

export async function botEventsIn({ control }: Rig): Promise<Map<string, BotEvent[]>> {
  return Map.groupBy(
    await control<BotEvent[]>('GET', '/bot/events'),
    ({ data }) => data.phone as string,
  );
}

type WrittenEvent = { phone: string; type: string; replaced: number };

/** While one waits, a newer one takes its place. */
const replaceable = new Set(['platform.changed', 'chat.consent', 'user.approved']);

const isReplaced = ({ type, replaced }: WrittenEvent) => replaced === 1 && replaceable.has(type);

const writtenEvents = ({ database }: Rig) =>
  database.all<WrittenEvent>('select phone, type, replaced from outbox_history');

/**
 * No event waits, and the bot received every written event that no newer one replaced. Not checked here: deleted users,
 * whose earlier events are withdrawn, and `chat.message`, which a clearing withdraws and which has its own invariant.
 */
export async function everyEventArrived({ people, rig }: World): Promise<Finding> {
  const waiting = await rig.database.select().from(outbox).where(isNull(outbox.parkedAt));
  const history = await writtenEvents(rig);
  const left = new Set(people.filter((person) => person.left).map(({ phone }) => phone));
  const written = history.filter(({ phone, type }) => type !== 'chat.message' && !left.has(phone));
  const counts = Map.groupBy(written, ({ phone, type }) => `${phone} ${type}`);
  const events = [...(await botEventsIn(rig)).values()].flat();
  const arrived = Map.groupBy(events, ({ type, data }) => `${data.phone} ${type}`);
  const finding = await checkCases(
    'outbox events delivered to the bot',
    counts,
    ([which, each]) => {
      const { length: received } = arrived.get(which) ?? [];
      const replaced = each.filter(isReplaced).length;
      // The bot may have one whose response was lost before it was replaced.
      const isRight = received <= each.length && received >= each.length - replaced;
      return isRight
        ? null
        : `${which}: ${each.length} written, ${replaced} replaced, ${received} arrived`;
    },
  );
  finding.broken.push(...waiting.map(({ body }) => `waits: ${body}`));
  return { ...finding, checked: written.length };
}

/** The bot received each change that none replaced once and in order, and its latest event matches the database. */
export async function botReceivedChanges({ people, rig }: World): Promise<Finding> {
  const events = await botEventsIn(rig);
  const accounts = await accountsIn(rig.database);
  const replaced = (await writtenEvents(rig)).filter(
    (event) => event.type === 'platform.changed' && isReplaced(event),
  );
  return checkCases('the bot received each change once, in order', people, (person) => {
    const account = accounts.get(person.phone);
    if (!account) return null;
    const hasReplaced = replaced.some(({ phone }) => phone === person.phone);
    return changesError(person, { ...account, hasReplaced }, events.get(person.phone) ?? []);
  });
}

type ReportedAccount = Account & { hasReplaced: boolean };

function changesError(
  { phone, platforms }: Person,
  account: ReportedAccount,
  events: BotEvent[],
): string | null {
  const received = events.flatMap(({ type, data }) =>
    type === 'platform.changed' ? [data.platform as string] : [],
  );
  if (!isReported(platforms, received, account))
    return `${phone} chose ${platforms.join()} and has ${account.platform}; the bot received ${received.join()}`;
  const plan = events.findLast(({ type }) => type === 'plan.changed')?.data.tier ?? 'free';
  const entitled = entitledTier(account);
  return plan === entitled ? null : `${phone} has ${entitled}; the bot knows of ${plan}`;
}

/**
 * The bot received every confirmed choice in order, each change once, and the current one last. It may have received
 * more: a write that a killed Worker sent to a slow database may happen after its caller has repeated the call.
 */
function isReported(
  chosen: string[],
  received: string[],
  { platform, hasReplaced }: ReportedAccount,
): boolean {
  if (hasReplaced) return received.at(-1) === platform;

  let next = 0;
  for (const each of received) if (each === chosen[next]) next += 1;
  const changes = ['whatsapp', ...received];
  const isChange = received.every((each, index) => each !== changes[index]);
  return next === chosen.length && isChange && changes.at(-1) === platform;
}

/** Every trial lasts longer than the run. */
function entitledTier({ tier, trialTier: trial, tierWaits }: Account): string {
  if (tierWaits) return trial ?? 'free';
  return trial && planOf(trial).level > planOf(tier).level ? trial : tier;
}
