import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import type { PhoneNumber } from '#db/schema';
import { phoneTag } from '../../worker/lib/log.ts';
import { botCall, call, cronAfter, hex, parallel, vars } from './support/api.ts';
import {
  newSettledWriter,
  newWriter,
  readChat,
  reply,
  untilAccepted,
  untilDelivered,
  write,
} from './support/chat.ts';
import { advanceClock, eventually, minute } from './support/clock.ts';
import { newContact, newPhone } from './support/contacts.ts';
import { deleteAccount, userOf } from './support/person.ts';
import { costOf, logLines } from './support/requests.ts';
import { during, run, textOf } from './support/sandbox.ts';
import { liveUserOf, OpenChat } from './support/streams.ts';
import { recordingOf, sendRecording } from './support/voice.ts';

let lastYear = 2100;

/** Moves the clock to a year in which no other test counts. Durable Objects know no date after 2189. */
function inOwnYear(): number {
  const year = (lastYear += 2);
  advanceClock(Date.UTC(year, 5, 15) - Date.now());
  return year;
}

/** A user who writes in a year of its own. */
async function writerInOwnYear() {
  const year = inOwnYear();
  return { year, ...(await newWriter()) };
}

const referrals = async () => (await call('GET', '/api/safety')).body.referrals;
const total = async () => (await referrals()).thisYear.total as number;
const untilTotal = (count: number) => eventually(async () => expect(await total()).toBe(count));

async function replyInCrisis(phone: string): Promise<void> {
  const { status } = await reply(phone, 'Please call somebody.', undefined, { crisis: true });
  expect(status).toBe(200);
}

/** The only message as it is stored, which changes with the encrypted mark and keeps its size. */
const storedMark = (token: string) =>
  runInDurableObject(liveUserOf(token), (_, { storage }) => {
    const [row] = storage.sql
      .exec<{ sealed: ArrayBuffer }>('select sealed from messages')
      .toArray();
    return hex(row!.sealed);
  });

it('counts a crisis reply when it is read first, and not again by tabs, replays, restarts and later reads', async () => {
  const { phone, token } = await writerInOwnYear();
  await reply(phone, 'Good morning');
  await replyInCrisis(phone);
  await readChat(token, '?limit=1');
  await untilTotal(1);
  await parallel(5, () => readChat(token));
  const replayed = await parallel(3, () => OpenChat.open(token, 0));
  for (const stream of replayed) await stream.until(({ messages }) => messages.length === 2);
  await evictDurableObject(liveUserOf(token));
  await readChat(token);
  // Each reply that the streams deliver counts once for all, and shows that the work of all reads before it is done.
  for (const count of [2, 3]) {
    await replyInCrisis(phone);
    await untilTotal(count);
  }
});

it('does not count a reply that was cleared unseen, or that nobody has read yet', async () => {
  const { phone, token } = await writerInOwnYear();
  await replyInCrisis(phone);
  await call('DELETE', '/api/user/chat', { token });
  expect((await readChat(token)).messages).toEqual([]);
  await replyInCrisis(phone);
  expect(await total()).toBe(0);
  for (const count of [1, 2]) {
    await readChat(token);
    await untilTotal(count);
    await replyInCrisis(phone);
  }
});

it('counts later what the database could not count at once, and costs a later read nothing', async () => {
  const { phone, token } = await writerInOwnYear();
  await replyInCrisis(phone);
  const before = await storedMark(token);
  await during(
    {
      libsql: {
        status: 503,
        match: 'daily_totals',
      },
    },
    async () => {
      expect((await readChat(token)).messages).toHaveLength(1);
      await eventually(() => expect(logLines('referral_postponed')).not.toEqual([]));
    },
  );
  expect([await total(), await storedMark(token)]).toEqual([0, before]);
  await readChat(token);
  await untilTotal(1);
  await eventually(async () => expect(await storedMark(token)).not.toBe(before));
  expect(await storedMark(token)).toHaveLength(before.length);
  const read = await call('GET', '/api/user/chat', { token });
  expect(costOf(read)).toBe(1);
  expect(read.body.messages[0]).not.toHaveProperty('counted');
});

it('keeps nothing about the person beside the count of the day', async () => {
  const { year, phone, token } = await writerInOwnYear();
  await replyInCrisis(phone);
  await readChat(token);
  await untilTotal(1);
  const dayOf = (...date: [year: number, month: number, day: number]) =>
    Date.UTC(...date) / 86_400_000;
  const query = 'select kind, detail, day, n from daily_totals where day between ? and ?';
  const { rows } = await run(query, dayOf(year, 0, 1), dayOf(year + 1, 0, 1));
  expect(rows.map((row) => ({ ...row }))).toEqual([
    {
      kind: 'referral',
      detail: 'web',
      day: dayOf(year, 5, 15),
      n: 1,
    },
  ]);
});

/** What somebody can tell of a row without its keys: which values it has, and how long they are. */
const shapeOf = (row: object) =>
  JSON.stringify(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof ArrayBuffer
        ? value.byteLength
        : typeof value === 'string'
          ? value.replaceAll(/\w/g, 'x')
          : typeof value,
    ]),
  );

/** Every row of the database that is of nobody else, and of the person's live object: its shape by its content. */
async function rowsOf(token: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const add = (table: string, row: Record<string, unknown>) => {
    const owner = table === 'users' ? row['id'] : row['user_id'];
    const isOthers = typeof owner === 'string' && owner !== userOf(token);
    // What is published about a day names nobody.
    if (isOthers || table === 'daily_totals') return;
    found.set(`${table} ${textOf(row)}`, `${table} ${shapeOf(row)}`);
  };
  const tables =
    "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'";
  for (const { name } of (await run(tables)).rows)
    for (const row of (await run(`select * from "${name as string}"`)).rows)
      add(name as string, Object.fromEntries(Object.entries(row)));
  await runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
    for (const { name } of sql.exec<{ name: string }>(tables).toArray())
      for (const row of sql.exec(`select * from "${name}"`).toArray())
        add(`live ${name}`, { ...row, sealed: hexOf(row['sealed']) });
  });
  return found;
}

const hexOf = (value: unknown) => (value instanceof ArrayBuffer ? hex(value) : null);

/** The shapes of the rows that are new, or have changed. */
async function grownSince(before: Map<string, string>, token: string): Promise<string[]> {
  const after = await rowsOf(token);
  return [...after].flatMap(([row, shape]) => (before.has(row) ? [] : [shape])).toSorted();
}

/** Errors of what others have left stand in the log, too. */
const infoLines = () => logLines().filter(({ level }) => level === 'info');

/** The lines of the log since the `from`th, without what is another one for each call. */
const linesSince = (from: number) =>
  infoLines()
    .slice(from)
    .filter(({ route }) => route !== '/api/safety')
    .map((line) => ({ ...line, requestId: 'each', ms: 'each' }));

describe('who was in a crisis', () => {
  /** Everything that is kept and logged of somebody until they have left. */
  async function lifeOf(isInCrisis: boolean) {
    const { phone, token } = await newSettledWriter();
    const [before, from] = [await rowsOf(token), infoLines().length];
    const messageId = crypto.randomUUID();
    await write(token, 'How are you?', messageId);
    await untilAccepted(phone, 1);
    await botCall('/api/bot/typing', { phone, text: 'I am' });
    const answer = isInCrisis ? { crisis: true } : {};
    await reply(phone, 'I am here for you.', 'reply-1', {
      replyTo: messageId,
      ...answer,
    });
    const counted = isInCrisis ? (await total()) + 1 : await total();
    await readChat(token);
    await untilTotal(counted);
    await readChat(token);
    await write(token, 'Thank you.');
    await untilAccepted(phone, 2);
    await untilDelivered(phone);
    const lived = await grownSince(before, token);
    await deleteAccount(token);
    await untilDelivered(phone);
    await cronAfter(2 * minute);
    const left = await grownSince(before, token);

    const tag = await phoneTag(vars.CODE_PEPPER!.split(/\s+/)[0]!, phone as PhoneNumber);
    const lines = linesSince(from);
    return {
      lived,
      left,
      lines: JSON.stringify(lines).replaceAll(tag, 'tag'),
    };
  }

  it('is told by no line of the log, no row and no size, neither before nor after the account goes', async () => {
    const calm = await lifeOf(false);
    const inCrisis = await lifeOf(true);
    for (const event of ['request_failed', 'referral_postponed'])
      expect(logLines(event)).toEqual([]);
    expect(inCrisis).toEqual(calm);
    expect(calm.lived.length).toBeGreaterThan(3);
    // The counting call is one of nobody: it has no tag, and its row is that of any call about a conversation.
    const { phone, token } = await newWriter();
    const recording = await sendRecording(token, recordingOf('audio/ogg'));
    expect(recording.status).toBe(403);
    const rowOf = async (path: string, id: string, body: object) => {
      const before = await rowsOf(token);
      expect((await botCall(path, { phone, ...body }, id)).status).toBeLessThan(405);
      return grownSince(before, token);
    };
    const own = await rowOf('/api/bot/referrals', 'one', {});
    expect(own).toEqual(await rowOf('/api/bot/voice', 'two', { id: crypto.randomUUID() }));
    expect(own).toHaveLength(1);
    const tagged = new Set(logLines().flatMap(({ route, phone: tag }) => (tag ? [route] : [])));
    for (const path of ['messages', 'typing', 'referrals', 'voice', 'transcripts'])
      expect(tagged).not.toContain(`/api/bot/${path}`);
    expect(tagged).toContain('/api/bot/contacts');
  });
});

it("counts the bot's own once for a webhook-id, as long as the number is known", async () => {
  const year = inOwnYear();
  const { phone } = await newContact();
  const id = crypto.randomUUID();
  const path = '/api/bot/referrals';
  for (const answer of await parallel(5, () => botCall(path, { phone }, id)))
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true },
    });
  expect(await referrals()).toEqual({
    lastYear: { year: year - 1, total: 0 },
    thisYear: { year, total: 1 },
  });
  expect(costOf(await botCall(path, { phone }))).toBe(1);
  expect(await total()).toBe(2);
  const unknown = await botCall(path, { phone: newPhone() });
  expect(unknown).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  });
  expect(
    (
      await botCall(path, {
        phone,
        text: 'what was said',
      })
    ).status,
  ).toBe(400);
  expect(await total()).toBe(2);
  advanceClock(Date.UTC(year + 1, 0, 2) - Date.now());
  expect(await referrals()).toEqual({
    lastYear: { year, total: 2 },
    thisYear: { year: year + 1, total: 0 },
  });
});
