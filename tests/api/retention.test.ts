import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { botCall, call, cronAfter, hex, newNetwork, runCron } from './support/api.ts';
import { buy, newSubscriber, subscribe } from './support/buying.ts';
import { consent, reply, untilReplied, untilState, write } from './support/chat.ts';
import { fetchRecording, newSpeaker, recordingOf, sendRecording } from './support/voice.ts';
import { advanceClock, day, eventually, minute, second } from './support/clock.ts';
import { shortenPauses } from './support/pauses.ts';
import {
  beginChange,
  claimNumber,
  newCode,
  otherThan,
  redeem,
  requestOtp,
  verifyChange,
  verifyOtp,
} from './support/codes.ts';
import { eventTypes, newPhone } from './support/contacts.ts';
import {
  deleteAccount,
  exportOf,
  externalSession,
  getMe,
  newPerson,
  planOf,
  userOf,
} from './support/person.ts';
import { cutFirst, logLines, startHeld, watchDatabase } from './support/requests.ts';
import {
  columnsWith,
  database,
  deliveredEvents,
  during,
  run,
  sandbox,
  userRowOf,
} from './support/sandbox.ts';
import { liveUserOf, wholeObject } from './support/streams.ts';
import { customerOf } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

/** Moves every use of the account so many days back, makes its review due, and runs the cron jobs. */
async function reviewAfter(days: number, ...phones: string[]): Promise<void> {
  const columns = [
    'created_at',
    'contacted_at',
    'last_contact_at',
    'last_seen_at',
    'week_start',
    'week_anchor',
  ];
  const earlier = [...columns, 'retention_notice_at'].map(
    (column) => `${column} = ${column} - ${days * day}`,
  );
  const sql = `update users set ${earlier.join(', ')}, retention_due_at = 0 where phone = ?`;
  for (const phone of phones) await run(sql, phone);
  await runCron('0 * * * *');
  await runCron();
}

describe('an unused account', () => {
  it('is announced to the bot, and deleted 30 days later like one that its user deletes', async () => {
    advanceClock(0);
    const { phone, token } = await newPerson();
    await reviewAfter(600, phone);
    expect(await deliveredEvents(phone)).toEqual([]);
    const dueIn = Number((await userRowOf({ phone })).retention_due_at) - Date.now();
    expect(Math.round(dueIn / day)).toBe(100);
    await reviewAfter(101, phone);
    const deletesAt = new Date(Date.now() + 30 * day).toISOString();
    const notice = {
      type: 'user.unused',
      data: {
        phone,
        userId: userOf(token),
        deletesAt,
      },
    };
    expect(await deliveredEvents(phone)).toMatchObject([notice]);
    await reviewAfter(0);
    expect(await deliveredEvents(phone)).toHaveLength(1);
    await reviewAfter(31, phone);
    expect(await userRowOf({ phone })).toBeUndefined();
    expect((await getMe(token)).status).toBe(401);
    expect(await eventTypes(phone)).toEqual(['user.unused', 'user.deleted']);
  });

  it('goes also when the bot has refused another event of it', async () => {
    const { phone } = await newPerson();
    const sql = 'select 1 from outbox where phone = ? and (parked_at is not null) = ?';
    const left = (parked: 0 | 1, count: number) =>
      eventually(async () => expect((await run(sql, phone, parked)).rows).toHaveLength(count));
    await during({ bot: { status: 400, match: phone } }, async () => {
      for (const status of ['pending', 'approved'])
        await botCall('/api/bot/approvals', { phone, status });
      await left(1, 1);
    });
    await reviewAfter(701, phone);
    await left(0, 0);
    expect((await userRowOf({ phone })).retention_notice_at).not.toBeNull();
    await reviewAfter(31, phone);
    expect(await userRowOf({ phone })).toBeUndefined();
  });

  it('stays, and is nobody’s message, while its row names a number that is not its own', async () => {
    const [{ phone, token }, stranger] = [await newPerson(), newPhone()];
    await reviewAfter(701, phone);
    await run('update users set phone = ? where phone = ?', stranger, phone);
    await reviewAfter(31, stranger);
    expect(await userRowOf({ phone: stranger })).toMatchObject({ id: userOf(token) });
    expect(logLines('row_not_bound')).toContainEqual(expect.objectContaining({ table: 'users' }));
    expect(await eventTypes(stranger)).toEqual([]);

    await run('update users set phone = ? where phone = ?', phone, stranger);
    await reviewAfter(31, phone);
    expect(await userRowOf({ phone })).toBeUndefined();
    expect(await eventTypes(phone)).toEqual(['user.unused', 'user.deleted']);
  });

  it('stays with a subscription, after a use since the notice, and while the bot has not accepted the notice', async () => {
    const [writer, visitor, unnoticed] = [await newPerson(), await newPerson(), await newPerson()];
    const payer = await newSubscriber('basic');
    const phones = [writer.phone, visitor.phone, unnoticed.phone, payer.phone];
    await sandbox.faults({
      bot: {
        status: 500,
        match: unnoticed.phone,
      },
    });
    await reviewAfter(701, ...phones);
    await botCall('/api/bot/contacts', { phone: writer.phone });
    await externalSession(visitor.phone);
    await reviewAfter(31, ...phones);
    for (const phone of phones) expect(await userRowOf({ phone })).toBeDefined();
    expect(await eventTypes(payer.phone)).not.toContain('user.unused');
  });

  it('is none that is used after the review has read it', async () => {
    const { phone, token } = await newPerson();
    const marks = ['user.unused', userOf(token)];
    const review = await startHeld(() => reviewAfter(701, phone), ...marks);
    await botCall('/api/bot/contacts', { phone });
    await review.finish();
    expect(await eventTypes(phone)).toEqual([]);
    expect(await userRowOf({ phone })).toMatchObject({ retention_notice_at: null });
  });

  /** Somebody who has looked at the page of Stripe, and who was told that the account will go. */
  async function noticed() {
    const person = await newPerson();
    await buy(person.token, 'basic');
    await reviewAfter(701, person.phone);
    expect(await eventTypes(person.phone)).toEqual(['user.unused']);
    return { ...person, customer: await customerOf(person.phone) };
  }

  it('stays when it is used while Stripe deletes its customer', async () => {
    const { phone, token, customer } = await noticed();
    const marks = ['DELETE', `/v1/customers/${customer}`];
    const review = await startHeld(() => reviewAfter(31, phone), ...marks);
    await botCall('/api/bot/contacts', { phone });
    await review.finish();
    expect((await getMe(token)).status).toBe(200);
    expect(await eventTypes(phone)).toEqual(['user.unused']);
    await subscribe(token, 'basic');
    expect(await planOf(token)).toEqual(['basic', 'active']);
  });

  it('stays when it is used after its deletion was cut off', async () => {
    advanceClock(0);
    const { phone, token, customer } = await noticed();
    const { arrived } = cutFirst('DELETE', `/v1/customers/${customer}`);
    void reviewAfter(31, phone).catch(() => undefined);
    await arrived();
    await botCall('/api/bot/contacts', { phone });
    for (let count = 0; count < 2; count += 1) await cronAfter(3 * minute);
    expect((await getMe(token)).status).toBe(200);
    expect(await eventTypes(phone)).toEqual(['user.unused']);
  });
});

type Row = (string | number)[];
/** Each table whose rows end: its key, how long (ms) they are kept, and a row by its number and its instant. */
const perishable: [
  table: string,
  key: string,
  keptMs: number,
  row: (n: number, at: number) => Row,
][] = [
  ['codes', 'phone', 3_600_000, (n, at) => [`+swept${n}`, '', 'mac', 'by', at, at, 5, 0]],
  ['rate_limit_events', 'subject', day, (n, at) => [`swept:${n}`, at, 'by']],
  ['bot_calls', 'id', 7 * day, (n, at) => [`swept_${n}`, 'fingerprint', 'by', at, '{}', '']],
  ['stripe_events', 'id', 30 * day, (n, at) => [`swept_${n}`, 'type', at]],
  [
    'sessions',
    'id',
    30 * day,
    (n, at) => [`swept_${n}`, 'nobody', at, at + 30 * day, 0, '', at, ''],
  ],
  ['used_tokens', 'id', 0, (n, at) => [`swept_${n}`, 'by', at]],
  ['left_weeks', 'phone_mac', 0, (n, at) => [`swept_${n}`, 1, at]],
  [
    'link_codes',
    'mac',
    0,
    (n, at) => [`swept_${n}`, '+1', '1', `swept_${n}`, 'en', at, '', `swept_${n}`],
  ],
  ['phone_changes', 'id', 0, (n, at) => [`swept_${n}`, 'nobody', '+1', '1', 'mac', at, 5]],
  ['identity_conflicts', 'id_mac', 90 * day, (n, at) => [`swept_${n}`, 'u', '', at, at]],
  ['trial_links', 'mac', 0, (n, at) => [`swept_${n}`, 'nobody', 'mac', '', 'basic', 1, at, 0]],
];

/** Inserts rows before all others, since older rows precede newer ones. */
async function put(table: string, rows: Row[]): Promise<void> {
  const [first] = (await database.execute(`select coalesce(min(rowid), 0) as rowid from ${table}`))
    .rows;
  const before = Number(first!.rowid) - rows.length;
  const { columns } = await database.execute(`select * from ${table} limit 0`);
  const values = ['rowid', ...columns].map((_, index) => `value ->> ${index}`);
  const sql = `insert into ${table} (rowid, ${columns.join(', ')}) select ${values.join(', ')} from json_each(?)`;
  await run(sql, JSON.stringify(rows.map((row, index) => [before + index, ...row])));
}

it.each(perishable)(
  'deletes the expired rows of %s, and no others',
  async (table, key, keptMs, row) => {
    advanceClock(0);
    const end = Date.now() - keptMs;
    const old = Array.from({ length: 1500 }, (_, index) => row(index, end - day + index));
    await put(table, [
      ...old,
      row(1500, end - 60_000),
      row(1501, end - 1000),
      row(1502, end + 60_000),
    ]);
    const requests = watchDatabase(`delete from \\"${table}\\"`);
    shortenPauses();
    await runCron();
    expect(requests.length).toBeGreaterThan(3);
    const { rows } = await database.execute(
      `delete from ${table} where ${key} like '%swept%' returning ${key}`,
    );
    expect(rows.map((left) => left[key])).toEqual([row(1502, 0)[0]]);
  },
);

/** The recordings in a live object, as they are stored. */
function storedOf(token: string): Promise<Uint8Array[]> {
  return runInDurableObject(liveUserOf(token), (_, { storage: { sql } }) => {
    const rows = sql.exec<{ sealed: ArrayBuffer }>('select sealed from recordings').toArray();
    return rows.map(({ sealed }) => new Uint8Array(sealed));
  });
}

async function withRecording() {
  const person = await newSpeaker();
  const recording = recordingOf('audio/ogg', 3000);
  const { body } = await sendRecording(person.token, recording, { seconds: 5 });
  return {
    ...person,
    id: body.message.id as string,
    bytes: new Uint8Array(recording.bytes),
  };
}

describe('a recording', () => {
  it('is part of the export, as base64', async () => {
    const [{ phone, token, id, bytes }, other] = [await withRecording(), await newSpeaker()];
    await botCall('/api/bot/transcripts', {
      phone,
      id,
      text: 'What I said',
    });
    const voice = {
      type: 'audio/ogg',
      seconds: 2,
      data: btoa(String.fromCharCode(...bytes)),
    };
    await reply(phone, 'What Solace said', 'reply-1', { voice });
    const { body } = await exportOf(token);
    expect(body.conversation).toMatchObject([
      { text: 'What I said' },
      { text: 'What Solace said' },
    ]);
    const own = { id, author: 'user', ...voice, seconds: 5 };
    expect(body.recordings).toEqual([
      own,
      {
        id: 'reply-1',
        author: 'solace',
        ...voice,
      },
    ]);
    expect((await exportOf(other.token)).body.recordings).toEqual([]);
  });

  it('is stored as ciphertext alone, in the live object alone', async () => {
    const { token, id, bytes } = await withRecording();
    await untilState(token, id, 'delivered');
    const [stored] = await storedOf(token);
    // A part that no chance repeats.
    expect(stored!.join()).not.toContain(bytes.slice(1000, 1016).join());
    const encoded = btoa(String.fromCharCode(...bytes.slice(999, 1029)));
    expect(await columnsWith([encoded])).toEqual([]);
    // In the place of another it cannot be read.
    const other = await sendRecording(token, recordingOf('audio/ogg', 3000));
    expect(await (await fetchRecording(token, id)).bytes()).toEqual(bytes);
    const copy =
      'update recordings set sealed = (select sealed from recordings where seq = 1) where seq = 2';
    await runInDurableObject(liveUserOf(token), (_, { storage }) => void storage.sql.exec(copy));
    expect((await fetchRecording(token, other.body.message.id)).status).toBe(500);
  });

  it('is erased with the account', async () => {
    const { token } = await withRecording();
    expect((await deleteAccount(token)).status).toBe(200);
    await eventually(async () => expect(await wholeObject(token)).toBe(''));
    // Or with its conversation alone.
    const other = await withRecording();
    await call('DELETE', '/api/user/chat', { token: other.token });
    await eventually(async () => expect(await storedOf(other.token)).toEqual([]));
  });

  it('is kept as long as messages are, and no longer', async () => {
    const { token } = await withRecording();
    advanceClock(89 * day);
    const append = {
      id: 'new',
      author: 'user' as const,
      sealed: new ArrayBuffer(40),
      notAfter: Date.now() + day,
      perMinute: 1000,
    };
    const recording = new ArrayBuffer(9);
    await runInDurableObject(liveUserOf(token), (object) =>
      object.appendUserMessage(0, { ...append, recording }),
    );
    await runDurableObjectAlarm(liveUserOf(token));
    expect(await storedOf(token)).toHaveLength(2);
    advanceClock(2 * day);
    await runDurableObjectAlarm(liveUserOf(token));
    expect(await storedOf(token)).toEqual([new Uint8Array(recording)]);
  });
});

const base64 = (text: string) => btoa(text).replace(/=+$/, '');

/** What gives a secret away: itself, and its hashes without a key, which anybody can compute for every number. */
async function signsOf(...secrets: string[]): Promise<string[]> {
  const subjects = [
    'codes',
    'every-code',
    'wrong-tries',
    'codes-from',
    'requests-from',
    'tries-from',
  ];
  const hashed = secrets.flatMap((secret) => [
    secret,
    ...subjects.map((subject) => `${subject}:${secret}`),
  ]);
  const algorithms = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512', 'MD5'];
  const digestsOf = (bytes: Uint8Array) =>
    algorithms.map((algorithm) => crypto.subtle.digest(algorithm, bytes));
  const digests = await Promise.all(
    hashed.flatMap((text) => digestsOf(new TextEncoder().encode(text))),
  );
  const inBase64 = digests.map((bytes) => base64(String.fromCharCode(...new Uint8Array(bytes))));
  return [...secrets, ...secrets.map(base64), ...digests.map(hex), ...inBase64];
}

const numbersOf = (...phones: string[]) =>
  signsOf(...phones.flatMap((phone) => [phone, phone.slice(1), phone.slice(2)]));

/** Expects that nothing of the secrets stands in any column or in the log, which has lines about the paths. */
async function expectNoTraces(signs: string[], ...paths: string[]): Promise<void> {
  expect(await columnsWith(signs)).toEqual([]);
  const log = JSON.stringify(logLines());
  for (const path of paths) expect(log).toContain(path);
  for (const sign of signs) expect(log).not.toContain(sign);
}

const mayHoldNumber = ['aliases.value', 'users.phone'];

const network = newNetwork();

for (const [address, secrets] of [
  // IPv4 addresses are counted as they are, those of IPv6 by their /64 and /48.
  ['203.0.113.77', ['203.0.113.77', '203.0.113.0', '203.0.113']],
  [
    `${network}:7:1:2:3:4`,
    [network, `${network}:7:1:2:3:4`, `${network}:7::/64`, `${network}::/48`],
  ],
] as const)
  it(
    `keeps a number only where it is needed, and the address ${address} nowhere`,
    fullUnless(address.startsWith(network)),
    async () => {
      const phone = newPhone();
      const number = await numbersOf(phone);
      const code = await newCode(phone, { address });
      await verifyOtp(phone, otherThan(code.otp), address);
      await redeem(code, { address });
      await requestOtp(newPhone(), address);
      const token = await externalSession(phone);
      await deliveredEvents(phone);
      expect(await columnsWith(number)).toEqual(mayHoldNumber);

      await consent(token);
      await write(token, 'Hello');
      await untilReplied({ phone, token }, 1);
      await reply(phone, 'More', 'traces-1', { crisis: true });
      await botCall('/api/bot/trials', { phone });
      await call('GET', '/api/user/export', { token, address });
      await deliveredEvents(phone);
      expect(await columnsWith(number)).toEqual(mayHoldNumber);
      const object = await wholeObject(token);
      expect(object).toContain('solace');
      expect(object).not.toContain('traces-1');
      for (const sign of number) expect(object).not.toContain(sign);

      await newCode(phone, { address });
      expect(await columnsWith(number)).toEqual([...mayHoldNumber, 'codes.phone'].toSorted());
      expect((await deleteAccount(token)).status).toBe(200);
      await deliveredEvents(phone);
      await expectNoTraces([...number, ...(await signsOf(...secrets))], '/api/auth/verify-otp');
    },
  );

it('keeps nothing of a link code, a change and a notice after the deletion, or 30 days after they were left', async () => {
  const address = `${newNetwork()}:5:1:2:3:4`;
  const [asked, next, last, left] = [newPhone(), newPhone(), newPhone(), newPhone()];
  const { businessUserId, linkCode, otp } = await claimNumber(asked, address);
  const inRequests = ['codes.phone', 'link_codes.phone', 'link_codes.whatsapp_id'];
  expect(await columnsWith(await numbersOf(asked))).toEqual(inRequests);
  const { token } = (await redeem({ phone: asked, otp, challenge: linkCode }, { address })).body;
  const { endpoint, keys } = await sandbox.newBrowser(asked);
  expect(
    (
      await call('PUT', '/api/user/push', {
        token,
        address,
        body: { endpoint, keys },
      })
    ).status,
  ).toBe(200);
  await consent(token);
  await reply(asked, 'You are heard');
  await eventually(async () => expect(await sandbox.notices(asked)).toHaveLength(1));
  const browser = [endpoint, keys.p256dh, keys.auth];
  const ofBrowser = [
    'push_subscriptions.auth',
    'push_subscriptions.endpoint',
    'push_subscriptions.p256dh',
  ];
  expect(await columnsWith(browser)).toEqual(ofBrowser);

  const change = await beginChange(token, next, address);
  const ofChange = ['phone_changes.phone', 'phone_changes.whatsapp_id'];
  expect(await columnsWith(await numbersOf(next))).toEqual(ofChange);
  expect((await verifyChange(token, change, address)).status).toBe(200);
  await deliveredEvents(next);
  expect(await columnsWith(await numbersOf(asked))).toEqual([]);
  expect(await columnsWith(await numbersOf(next))).toEqual(mayHoldNumber);

  advanceClock(31 * second);
  await beginChange(token, last, address);
  const claim = await claimNumber(left, address);
  expect((await deleteAccount(token)).status).toBe(200);
  await deliveredEvents(next);
  const secrets = await signsOf(address, linkCode, businessUserId, ...browser);
  const signs = [...(await numbersOf(asked, next, last)), ...secrets];
  await expectNoTraces(signs, '/api/bot/contacts', '/api/user/phone/verify', '/api/user/push');

  const ofClaim = [
    ...(await numbersOf(left)),
    ...(await signsOf(claim.linkCode, claim.businessUserId)),
  ];
  expect(await columnsWith(ofClaim)).toEqual(inRequests.toSorted());
  advanceClock(30 * day + 1);
  await runCron();
  await expectNoTraces(ofClaim, '/api/auth/request-otp');
});
