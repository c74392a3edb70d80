import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, it } from 'vitest';
import { botCall, call, parallel } from './support/api.ts';
import { newWriter, readChat, reply } from './support/chat.ts';
import { advanceClock, eventually } from './support/clock.ts';
import { newContact, newPhone } from './support/contacts.ts';
import { costOf, logLines } from './support/requests.ts';
import { during, run } from './support/sandbox.ts';
import { liveUserOf, OpenChat } from './support/streams.ts';

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

/** The size of the only message as it is stored, which grows with the encrypted mark. */
const storedMark = (token: string) =>
  runInDurableObject(liveUserOf(token), (_, { storage }) => {
    const [row] = storage.sql
      .exec<{ sealed: ArrayBuffer }>('select sealed from messages')
      .toArray();
    return row!.sealed.byteLength;
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
  await during({ libsql: { status: 503, match: 'daily_totals' } }, async () => {
    expect((await readChat(token)).messages).toHaveLength(1);
    await eventually(() => expect(logLines('referral_postponed')).not.toEqual([]));
  });
  expect([await total(), await storedMark(token)]).toEqual([0, before]);
  await readChat(token);
  await untilTotal(1);
  await eventually(async () => expect(await storedMark(token)).toBeGreaterThan(before));
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
    { kind: 'referral', detail: 'web', day: dayOf(year, 5, 15), n: 1 },
  ]);
});

it("counts the bot's own once for a webhook-id, as long as the number is known", async () => {
  const year = inOwnYear();
  const { phone } = await newContact();
  const id = crypto.randomUUID();
  const path = '/api/bot/referrals';
  for (const answer of await parallel(5, () => botCall(path, { phone }, id)))
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
  expect(await referrals()).toEqual({
    lastYear: { year: year - 1, total: 0 },
    thisYear: { year, total: 1 },
  });
  expect(costOf(await botCall(path, { phone }))).toBe(1);
  expect(await total()).toBe(2);
  const unknown = await botCall(path, { phone: newPhone() });
  expect(unknown).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect((await botCall(path, { phone, text: 'what was said' })).status).toBe(400);
  expect(await total()).toBe(2);
  advanceClock(Date.UTC(year + 1, 0, 2) - Date.now());
  expect(await referrals()).toEqual({
    lastYear: { year, total: 2 },
    thisYear: { year: year + 1, total: 0 },
  });
});
