import { runInDurableObject } from 'cloudflare:test';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { SQLiteTable, type SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as schema from '../../drizzle/schema.ts';
import { type Answer, botCall, call, parallel, runCron } from './support/api.ts';
import { subscribe } from './support/buying.ts';
import { newWriter, reply, write } from './support/chat.ts';
import { advanceClock, minute } from './support/clock.ts';
import {
  beginChange,
  claimNumber,
  otherThan,
  redeem,
  reportStatus,
  requestCode,
  requestOtp,
  verifyChange,
} from './support/codes.ts';
import { contact, linkedTo, newBusinessUserId, newPhone, usageOf } from './support/contacts.ts';
import { externalSession, newPerson, type Person, userOf } from './support/person.ts';
import { run, sandbox } from './support/sandbox.ts';
import { liveUserOf } from './support/streams.ts';

/*
 * Whoever may write any one row of the database reads nothing of anybody. Every column that names a person is set to the
 * value of a thief, and the other way round, and every column of fixed words to each of them; then the thief signs in, also
 * as the holder of the victim's contested number, reads everything, writes, and the bot is told.
 */

type Value = string | number | null;
type Row = Record<string, Value> & { row_id: number };
type Known = Person & {
  userId: string;
  businessUserId: string;
  texts: string[];
  /** A stranger's, which nobody reads. */
  address: string;
  trialToken: string;
};

const tables = Object.values<unknown>(schema).filter((each) => is(each, SQLiteTable));

const columnsOf = (table: SQLiteTable) =>
  Object.values<SQLiteColumn>(getTableColumns(table)).filter(
    (column) => column.dataType === 'string' && !column.enumValues?.length,
  );

/** What a column of words, or a flag, can hold; nothing for others. */
function wordsOf({ dataType, enumValues, notNull }: SQLiteColumn): Value[] {
  const words: Value[] = dataType === 'boolean' ? [0, 1] : (enumValues ?? []);
  return words.length > 0 && !notNull ? [...words, null] : words;
}

/** Whether a value names somebody: by a name, by a keyed hash or key, or in a body. */
function names(value: Value | undefined, { phone, userId, businessUserId }: Names): boolean {
  const text = String(value);
  const isHash = /^[0-9a-f]{64}$|^[\w+/=-]{60,}$/.test(text);
  return isHash || [phone.slice(1), userId, businessUserId].some((name) => text.includes(name));
}

async function rowsOf(table: SQLiteTable): Promise<Row[]> {
  const { rows } = await run(`select rowid as row_id, * from ${getTableName(table)}`);
  return rows.map((row) => ({ ...row })) as unknown as Row[];
}

let persons = 0;

/** Somebody about whom every table of the product has a row. */
async function newKnown(): Promise<Known> {
  persons += 1;
  const [mark, businessUserId] = [`person-${persons}-${crypto.randomUUID()}`, newBusinessUserId()];
  const person = await newWriter();
  const { phone, token } = person;
  await done(contact({ phone, businessUserId }));
  const texts = ['said', 'answered', 'waiting'].map((each) => `${each} by ${mark}`);
  await done(write(token, texts[0]!));
  await done(reply(phone, texts[1]!));
  const browser = await sandbox.newBrowser(phone);
  await done(call('PUT', '/api/user/push', { token, body: browser }));
  await done(subscribe(token, 'basic'));
  const { body } = await done(botCall('/api/bot/trials', { phone }));
  const trialToken = new URL(body.url).searchParams.get('token')!;
  await contact({ phone, businessUserId: newBusinessUserId() });

  await sandbox.faults({ bot: { status: 503 } });
  const stated = {
    name: `name of ${mark}`,
    contact: phone,
    email: `${mark}@example.com`,
  };
  await done(call('POST', '/api/withdrawals', { body: stated }));
  await done(write(token, texts[2]!));
  await done(requestOtp(phone));
  expect((await requestOtp(phone)).status).toBe(429);
  await done(
    call('POST', '/api/user/phone', {
      token,
      body: { phone: newPhone() },
    }),
  );
  texts.push(stated.name);
  const known = {
    userId: userOf(token),
    businessUserId,
    texts,
    address: stated.email,
  };
  return { ...person, ...known, trialToken };
}

async function done(working: Promise<Answer>): Promise<Answer> {
  const answer = await working;
  expect(answer, answer.text).toMatchObject({ status: 200 });
  return answer;
}

/** The rows of the database that came with somebody. */
async function stage() {
  const seen = async () =>
    new Map(await Promise.all(tables.map(async (table) => [table, await rowsOf(table)] as const)));
  const before = await seen();
  const victim = await newKnown();
  const between = await seen();
  const thief = await newKnown();
  const after = await seen();
  const added = (older: typeof before, newer: typeof before) => (table: SQLiteTable) => {
    const known = new Set(older.get(table)!.map(({ row_id: id }) => id));
    return newer.get(table)!.filter(({ row_id: id }) => !known.has(id));
  };
  return {
    victim: { ...victim, rows: added(before, between) },
    thief: { ...thief, rows: added(between, after) },
    sim: newSim(),
    heir: newHeir(victim),
  };
}

/** A second SIM of the thief, which has no account yet. An attack gives it one, so the next one needs another. */
const newSim = () => ({
  phone: newPhone(),
  businessUserId: newBusinessUserId(),
  userId: crypto.randomUUID(),
});

/** The thief, to whom the contested number of somebody was given. */
const newHeir = ({ phone }: Person) => ({
  phone,
  businessUserId: newBusinessUserId(),
});

type Stage = Awaited<ReturnType<typeof stage>>;
type Tamper = {
  table: SQLiteTable;
  row: Row;
  column: SQLiteColumn;
  value: Value;
};

type Names = {
  phone: string;
  userId: string;
  businessUserId: string;
};

/** A value in which every name of one person is one of another. */
function renamed(value: Value, from: Names, to: Names): Value {
  return typeof value !== 'string'
    ? value
    : value
        .replaceAll(from.phone.slice(1), to.phone.slice(1))
        .replaceAll(from.userId, to.userId)
        .replaceAll(from.businessUserId, to.businessUserId);
}

type Scope = 'exchanges' | 'renamings, too';

/**
 * Each column that differs between like rows of the two, with the value of the other one, in one row of each kind; where there
 * are no like rows also with one name alone replaced. The wider scope has both, in every row.
 */
function nameTampersOf(table: SQLiteTable, { victim, thief, sim }: Stage, scope: Scope): Tamper[] {
  const [theirs, own] = [victim.rows(table), thief.rows(table)];
  return columnsOf(table).flatMap((column) => {
    const seen = new Set<string>();
    const named = theirs.filter((row) => names(row[column.name], victim));
    const rows = scope === 'exchanges' ? firstOfEachKind(named) : named;
    return rows.flatMap((row) => {
      const like = own.find((each) => each['kind'] === row['kind'] && isLike(each, row));
      const exchanges: [Row, Value | undefined][] = like
        ? [
            [row, like[column.name]],
            [like, row[column.name]],
          ]
        : [];
      const renamings: [Row, Value | undefined][] = [
        [row, renamed(row[column.name]!, victim, sim)],
        [row, renamed(row[column.name]!, victim, thief)],
        ...(like ? [[like, renamed(like[column.name]!, thief, victim)] as [Row, Value]] : []),
      ];
      const isNarrow = like && scope === 'exchanges';
      const values = isNarrow ? exchanges : [...exchanges, ...renamings];
      return values.flatMap(([changed, value]) => {
        const key = JSON.stringify([changed.row_id, value]);
        if (value === undefined || value === changed[column.name] || seen.has(key)) return [];
        seen.add(key);
        return [{ table, row: changed, column, value }];
      });
    });
  });
}

/** Each word of each column of words, in a row of each kind of the victim, for the heir; the wider scope has all rows, for all. */
function wordTampersOf(table: SQLiteTable, { victim, thief }: Stage, scope: Scope): Tamper[] {
  const rows =
    scope === 'exchanges'
      ? firstOfEachKind(victim.rows(table))
      : [...victim.rows(table), ...thief.rows(table)];
  return Object.values<SQLiteColumn>(getTableColumns(table)).flatMap((column) =>
    rows.flatMap((row) => {
      const others = wordsOf(column).filter((value) => value !== row[column.name]);
      return others.map((value) => ({ table, row, column, value }));
    }),
  );
}

const tampersOf = (...staged: Parameters<typeof nameTampersOf>) => [
  ...nameTampersOf(...staged),
  ...wordTampersOf(...staged),
];

function firstOfEachKind(rows: Row[]): Row[] {
  return [...Map.groupBy(rows, ({ kind }) => kind).values()].flatMap(([first]) => first ?? []);
}

/** Rows of the same table that say the same of two people: of one kind of event, of one challenge. */
function isLike(one: Row, other: Row): boolean {
  const typeOf = ({ body }: Row) => (typeof body === 'string' ? JSON.parse(body).type : null);
  if (typeOf(one) !== typeOf(other)) return false;
  return (one['challenge'] === '') === (other['challenge'] === '');
}

/**
 * Why the database refused the change; null if it took it. A unique value is taken from the thief's own row first: a thief can be somebody
 * who never had one.
 */
async function apply(
  { table, row, column, value }: Tamper,
  { thief }: Stage,
): Promise<string | null> {
  const name = getTableName(table);
  const set = () =>
    run(
      `update ${name} set ${column.name} = ? where rowid = ?`,
      value as unknown as string,
      row.row_id,
    ).then(
      ({ rowsAffected }) => (rowsAffected > 0 ? null : 'The row is gone'),
      (error: Error) => error.message,
    );
  const refusal = await set();
  if (refusal === null) return null;
  const own = thief.rows(table).filter((each) => each['kind'] === row['kind'] && each !== row);
  if (own.length === 0 || thief.rows(table).includes(row) || name === 'users') return refusal;
  for (const each of own)
    await run(`delete from ${name} where rowid = ?`, each.row_id).catch(() => undefined);
  return set();
}

/** Whether a change must be refused: by a trigger, or since one of the two has the value, which only one may have. */
function isExcused(refusal: string, { column, value }: Tamper, kept: Row[]): boolean {
  const byTrigger = /is never changed|stays with its account/.test(refusal);
  const isHeld = kept.some((row) => row[column.name] === value);
  return byTrigger || (refusal.includes('UNIQUE') && isHeld);
}

async function putBack(table: SQLiteTable, rows: Row[]): Promise<void> {
  for (const row of rows) {
    const { row_id: rowid, ...columns } = row;
    const entries = Object.entries({ rowid, ...columns });
    const names = entries.map(([name]) => name).join(', ');
    const places = entries.map(() => '?').join(', ');
    const values = entries.map(([, value]) => value as unknown as string);
    await run(
      `insert or replace into ${getTableName(table)} (${names}) values (${places})`,
      ...values,
    ).catch(() => undefined);
  }
}

/** The events that wait are sent after each change, and the bot takes none that it knows: each attack needs its own. */
async function waitAnew({ victim, thief }: Stage, round: number): Promise<void> {
  // The bot refuses events whose time is five minutes off, and each attack moves the clock by two.
  vi.useRealTimers();
  for (const { token, rows } of [victim, thief]) {
    const waiting = rows(schema.outbox);
    await putBack(
      schema.outbox,
      waiting.map((row) => ({ ...row, id: `${row['id']}_${round}` })),
    );
    await runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
      const sent = "update messages set state = 'sent' where id = ?";
      for (const row of waiting) if (row['message_id']) sql.exec(sent, row['message_id']);
    });
  }
}

type Read = readonly [method: 'GET', path: string];

const reads: readonly Read[] = [
  ['GET', '/api/user/me'],
  ['GET', '/api/user/chat'],
  ['GET', '/api/user/export'],
  ['GET', '/api/user/sessions'],
  ['GET', '/api/user/platform'],
  ['GET', '/api/billing/withdrawal'],
];

const privateReads: readonly Read[] = reads.slice(1, 3);

async function readAll(token: string | undefined, which: readonly Read[] = reads) {
  if (!token) return [];
  const responses = await Promise.all(which.map(([method, path]) => call(method, path, { token })));
  return responses.map(({ text }) => text);
}

/** After messages of these names, in turn. */
async function signIn(phone: string, written: object[]): Promise<string | undefined> {
  await run('delete from rate_limit_events');
  for (const names of written) await contact(names);
  const { body } = await requestOtp(phone);
  if (!body.challenge) return undefined;
  const code = (await sandbox.messages(phone)).findLast((message) => message.code)?.code;
  return (
    await redeem({
      phone,
      otp: code!,
      challenge: body.challenge,
    })
  ).body.token;
}

/** By a code at once, and by a token after messages of another id. */
async function inherit({ phone, businessUserId }: Stage['heir']): Promise<string[]> {
  const atOnce = await readAll(await signIn(phone, []), privateReads);
  const both = { phone, businessUserId };
  for (const names of [both, both, { businessUserId }]) await contact(names);
  const later = await readAll(await externalSession(phone), privateReads);
  return [...atOnce, ...later];
}

async function asBot(names: object): Promise<string[]> {
  const paths = ['usage', 'entitlements', 'typing', 'voice'];
  const id = crypto.randomUUID();
  const answers = await Promise.all(
    paths.map((path) =>
      botCall(
        `/api/bot/${path}`,
        path === 'voice'
          ? {
              ...names,
              id,
            }
          : names,
      ),
    ),
  );
  return answers.map(({ text }) => text);
}

/** How many events the bot has had, as far as is known. */
let events = 0;

/** Everything that the thief sees, and what the bot learns meanwhile. */
async function attack({ thief, sim }: Stage) {
  advanceClock(2 * minute);
  const before = events + (await sandbox.botEvents({ from: events })).length;
  const open = await readAll(thief.token);
  await write(thief.token, 'What did I tell you?');
  const numbers = [thief, sim] as const;
  const signedIn = await Promise.all(
    numbers.map(async ({ phone, businessUserId }) => {
      const token = await signIn(phone, [{ phone, businessUserId }, { phone }]);
      const read = await readAll(token);
      if (token) await write(token, 'What did I tell you last?');
      return read;
    }),
  );
  const { body } = await call('POST', '/auth/verify-trial-token', {
    body: { trialToken: thief.trialToken },
  });
  const byLink = await readAll(body.token);
  const byBot = await Promise.all(
    numbers.flatMap(({ phone, businessUserId }) => [asBot({ phone }), asBot({ businessUserId })]),
  );
  await sandbox.faults({ bot: null });
  await run('update outbox set due_at = 0, leased_until = 0 where parked_at is null');
  await runCron();
  const told = await sandbox.botEvents({ from: before });
  events = before + told.length;
  const phones = await Promise.all(numbers.map(({ phone }) => sandbox.messages(phone)));
  return {
    seen: [open, signedIn, byLink, byBot, phones].flat(3).map((each) => JSON.stringify(each)),
    told,
  };
}

const marksOf = ({ phone, userId, businessUserId, texts, address }: Known) => [
  phone.slice(1),
  userId,
  businessUserId,
  ...texts,
  address,
];

const isOf = (text: string, marks: string[]) => marks.filter((mark) => text.includes(mark));

/** A limited session tells whose it is, and no more. */
async function leaksToHeir({ victim, heir }: Stage): Promise<string[]> {
  advanceClock(minute);
  const secret = [victim.businessUserId, victim.address, ...victim.texts];
  const inherited = await inherit(heir);
  return inherited.flatMap((text) => isOf(text, secret).map((mark) => `inherited: ${mark}`));
}

/** What a tamper has shown: of the victim to the thief, or of one under the name of the other. */
async function leaksOf(staged: Stage): Promise<string[]> {
  const { victim, thief, sim } = staged;
  const { seen, told } = await attack(staged);
  const theirs = marksOf(victim);
  const own = [...marksOf(thief), sim.phone.slice(1), sim.businessUserId];
  const mixed = told.flatMap((event) => {
    const text = JSON.stringify(event);
    const [found, others] = [isOf(text, theirs), isOf(text, own)];
    return found.length > 0 && others.length > 0
      ? [`bot: ${[...found, ...others].join()}: ${text}`]
      : [];
  });
  const read = seen.flatMap((text) => isOf(text, theirs).map((mark) => `read: ${mark}`));
  return [...new Set([...read, ...mixed, ...(await leaksToHeir(staged))])];
}

afterEach(() => sandbox.faults({ bot: null }));

/** Tables that hold nothing about a person for longer than a transaction, or nothing at all. */
const empty = new Set([
  'decisions',
  'daily_codes',
  'daily_totals',
  'stripe_events',
  'left_weeks',
  // Keyed hashes, and an address that is bound to its statement (receipt-mail.test.ts).
  'receipt_mails',
]);
/** They fill by what no stage does: a token, a trial, a clearing, a claim. */
const unstaged = new Set(['used_tokens', 'used_trials', 'chat_erasures', 'claims']);
const isStaged = (name: string) => !empty.has(name) && !unstaged.has(name);

it('counts nothing by an id whose row names another account, for fifty calls at once', async () => {
  const [victim, thief, id] = [await newPerson(), await newPerson(), newBusinessUserId()];
  const report = (names: object) => botCall('/api/bot/contacts', names);
  const count = (names: object) => botCall('/api/bot/usage', names);
  const own = newBusinessUserId();
  await Promise.all([
    report({ phone: victim.phone, businessUserId: own }),
    report({ phone: thief.phone, businessUserId: id }),
  ]);
  const rows = 'select used, last_contact_at from users where phone = ?';
  const before = await run(rows, victim.phone);
  await run('delete from aliases where value = ?', own);
  await run('update aliases set user_id = ? where value = ?', userOf(victim.token), id);
  advanceClock(minute);
  const answers = await parallel(50, (index) =>
    (index % 2 ? count : report)({ businessUserId: id }),
  );
  expect(answers.filter(({ body }) => body.allowed || body.known)).toEqual([]);
  expect((await run(rows, victim.phone)).rows).toEqual(before.rows);
});

it('ties the id of a claim to no account of another number, whatever its row names', async () => {
  const [victim, claimed] = [await newPerson(), await claimNumber()];
  expect((await redeem(claimed)).status).toBe(200);
  const { businessUserId, phone } = claimed;
  const own =
    'update claims set user_id = ? where user_id = (select id from users where phone = ?)';
  expect((await run(own, userOf(victim.token), phone)).rowsAffected).toBe(1);

  await reportStatus(phone, {
    status: 'delivered',
    recipient_user_id: businessUserId,
  });
  expect(await linkedTo(victim.phone)).toEqual([]);
  expect((await botCall('/api/bot/usage', { businessUserId })).body.allowed).toBe(false);
  expect(await usageOf(victim.phone)).toMatchObject({ used: 0 });
});

it('gives a code no more tries than its caller has, whatever its row says', async () => {
  const { phone } = await newPerson();
  advanceClock(minute);
  const code = await requestCode(phone);
  const more = 'update codes set tries_left = 1000 where phone = ?';
  const guess = { ...code, otp: otherThan(code.otp) };
  await run(more, phone);
  const wrong = await parallel(50, () => redeem(guess));
  expect(wrong.filter(({ body }) => body.code !== 'code_spent')).toHaveLength(5);
  await run(more, phone);
  expect(await redeem(code)).toMatchObject({ status: 401, body: { code: 'code_spent' } });
});

it('binds number and id alike, whatever calls link and use them at once', async () => {
  const [phone, businessUserId] = [newPhone(), newBusinessUserId()];
  const names = [{ phone }, { businessUserId }, { phone, businessUserId }];
  await parallel(50, (index) =>
    botCall(`/api/bot/${index % 2 ? 'usage' : 'contacts'}`, names[index % 3]!),
  );
  const bound = `select distinct binding_mac from aliases join users on users.id = user_id
    where phone = ? and kind in ('phone', 'business')`;
  expect((await run(bound, phone)).rows).toMatchObject([{ binding_mac: expect.any(String) }]);
  const usedBy = async (body: object) => (await botCall('/api/bot/entitlements', body)).body.used;
  expect(await usedBy({ businessUserId })).toBe(await usedBy({ phone }));
});

describe('whoever writes one row reads nothing of anybody', () => {
  const named = tables.map((table) => [getTableName(table), table] as const);

  const leaksNothing =
    (scope: Scope) =>
    async (...[name, table]: (typeof named)[number]) => {
      const staged = await stage();
      const keptOf = (each: SQLiteTable) => [
        ...staged.victim.rows(each),
        ...staged.thief.rows(each),
      ];
      const kept = keptOf(table);
      if (isStaged(name)) expect(kept).not.toEqual([]);
      const found: string[] = [];
      const { length } = tampersOf(table, staged, scope);
      for (let index = 0; index < length; index += 1) {
        const fresh = { ...staged, sim: newSim(), heir: newHeir(staged.victim) };
        const tamper = tampersOf(table, fresh, scope)[index]!;
        const where = `${name}.${tamper.column.name} := ${tamper.value}`;
        await sandbox.faults({ bot: { status: 503 } });
        await waitAnew(fresh, index);
        const refusal = await apply(tamper, fresh);
        if (refusal !== null && !isExcused(refusal, tamper, kept))
          found.push(`${where}: not tried, ${refusal}`);
        const isOfWord = scope === 'exchanges' && wordsOf(tamper.column).length > 0;
        const attempt = isOfWord ? leaksToHeir : leaksOf;
        const leaks = refusal === null ? await attempt(fresh) : [];
        for (const leak of leaks) found.push(`${where}: ${leak}`);
        await putBack(table, kept);
      }
      expect(found).toEqual([]);
    };

  /** Whose rows open most: an account, its names, and what signs in. */
  const doors = new Set(['users', 'aliases', 'sessions', 'codes']);
  const isDoor = ([name]: (typeof named)[number]) => doors.has(name);
  const staged = named.filter(([name]) => isStaged(name));
  const narrow = leaksNothing('exchanges');
  it.each(staged.filter(isDoor))('%s', narrow);
  it.each(staged.filter((each) => !isDoor(each)))('%s, too', { tags: 'full' }, narrow);
  it.each(named)('%s, every row and name', { tags: 'full' }, leaksNothing('renamings, too'));

  it('is no excuse: without a change everybody reads what is their own', async () => {
    const staged = await stage();
    const own = (await readAll(staged.thief.token)).join();
    for (const text of staged.thief.texts) expect(own).toContain(text);
    expect(await leaksOf(staged)).toEqual([]);
    // Nor does the holder of a number who changes two.
    const { userId, texts } = staged.victim;
    await run("update aliases set proof = 'contact' where user_id = ?", userId);
    await run('update users set is_contested = 0 where id = ?', userId);
    const inherited = (await inherit(newHeir(staged.victim))).join();
    for (const text of texts.slice(0, 3)) expect(inherited).toContain(text);
  });
});

describe('the holder of a contested number', () => {
  const ofContest = [schema.users, schema.aliases, schema.identityConflicts, schema.sessions];
  type Owned = { table: SQLiteTable; row: Row };

  async function newContest() {
    const owner = await newWriter();
    const [text, userId] = [`said by ${crypto.randomUUID()}`, userOf(owner.token)];
    const rows = async (): Promise<Owned[]> => {
      const each = ofContest.map(async (table) =>
        (await rowsOf(table))
          .filter((row) => Object.values(row).includes(userId))
          .map((row) => ({ table, row })),
      );
      return (await Promise.all(each)).flat();
    };
    const { phone } = owner;
    await done(contact({ phone, businessUserId: newBusinessUserId() }));
    await done(write(owner.token, text));
    const before = await rows();
    await contact({ phone, businessUserId: newBusinessUserId() });
    return { owner, text, before, contested: await rows() };
  }

  type Contest = Awaited<ReturnType<typeof newContest>>;

  async function expectNothing({ owner, text, contested }: Contest) {
    expect((await inherit(newHeir(owner))).join()).not.toContain(text);
    for (const { table, row } of contested) await putBack(table, [row]);
  }

  it('ends no contest by one row as it was before', async () => {
    const contest = await newContest();
    for (const { table, row } of contest.before) {
      await putBack(table, [row]);
      await expectNothing(contest);
    }
  });

  it('ends no contest by one row that is taken away', async () => {
    const contest = await newContest();
    for (const { table, row } of contest.contested) {
      await run(`delete from ${getTableName(table)} where rowid = ?`, row.row_id);
      await expectNothing(contest);
    }
  });
});

describe('an older row that is put back', () => {
  const ofAccount = ['users', 'aliases'];
  const others = ['sessions', 'trial_links', 'push_subscriptions'];

  const opensNothing = async (name: string) => {
    const table = tables.find((each) => getTableName(each) === name)!;
    const { victim, sim } = await stage();
    const older = victim.rows(table);
    await sandbox.faults({ bot: null });
    await run('delete from rate_limit_events');
    const begun = await beginChange(victim.token);
    expect((await verifyChange(victim.token, begun)).status).toBe(200);
    await putBack(table, older);

    const { phone } = victim;
    const token = await signIn(phone, [{ phone, businessUserId: sim.businessUserId }, { phone }]);
    const seen = (await readAll(token)).join();
    for (const mark of [begun.phone.slice(1), ...victim.texts]) expect(seen).not.toContain(mark);
    // Nor does a session that the change has ended.
    const ended = (await readAll(victim.token)).join();
    if (name === 'sessions') for (const text of victim.texts) expect(ended).not.toContain(text);
  };

  it.each(ofAccount)('of %s opens nothing to the new owner of the number', opensNothing);
  it.each(others)('of %s opens nothing to the new owner, either', { tags: 'full' }, opensNothing);
});
