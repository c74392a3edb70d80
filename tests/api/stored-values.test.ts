import { runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { botCall, call, cronAfter, hex } from './support/api.ts';
import { subscribe } from './support/buying.ts';
import { clearChat, consent, readChat, reply, untilAccepted, write } from './support/chat.ts';
import { eventually, minute } from './support/clock.ts';
import {
  beginChange,
  claimNumber,
  newCode,
  redeem,
  reportStatus,
  requestOtp,
  verifyChange,
} from './support/codes.ts';
import { linkedTo, newBusinessUserId, newPhone } from './support/contacts.ts';
import {
  deleteAccount,
  exportOf,
  externalSession,
  newPerson,
  trialSession,
} from './support/person.ts';
import { database, during, sandbox } from './support/sandbox.ts';
import { deliver } from './support/stripe-events.ts';
import { customerOf } from './support/stripe.ts';
import { liveUserOf } from './support/streams.ts';
import { recordingOf, sendRecording } from './support/voice.ts';

type Value = string | number | null | ArrayBuffer;
type Stored = { place: string; value: Value };

async function tablesOf(): Promise<
  {
    name: string;
    rows: Record<string, Value>[];
  }[]
> {
  const { rows: tables } = await database.execute(
    "select name from sqlite_master where type = 'table'",
  );
  return Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await database.execute(`select * from "${name as string}"`);
      return {
        name: name as string,
        rows: rows.map((row) => ({ ...row }) as never),
      };
    }),
  );
}

/** The tables of somebody's live object, with what it keeps beside them. */
function objectOf(token: string): Promise<
  {
    name: string;
    rows: Record<string, Value>[];
  }[]
> {
  return runInDurableObject(liveUserOf(token), async (_, { storage }) => {
    const own =
      "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'";
    const tables = storage.sql.exec<{ name: string }>(own).toArray();
    const beside = [...(await storage.list())].map(([key, value]) => ({
      key,
      value: JSON.stringify(value),
    }));
    return [
      ...tables.map(({ name }) => ({
        name,
        rows: storage.sql.exec<Record<string, Value>>(`select * from "${name}"`).toArray(),
      })),
      { name: 'storage', rows: beside },
    ];
  });
}

async function tablesNow(tokens: string[]) {
  const objects = await Promise.all(tokens.map(objectOf));
  return [...(await tablesOf()), ...objects.flat()];
}

function storedIn(tables: Awaited<ReturnType<typeof tablesNow>>): Stored[] {
  return tables.flatMap(({ name, rows }) =>
    rows.flatMap((row) =>
      Object.entries(row).map(([column, value]) => ({
        place: `${name}.${column}`,
        value,
      })),
    ),
  );
}

const latin1 = (bytes: Iterable<number>) => String.fromCharCode(...bytes);

/** Bytes are read in parts, since a call takes only so many arguments. */
function textOf(value: Value): string {
  if (!(value instanceof ArrayBuffer)) return String(value ?? '');
  const bytes = new Uint8Array(value);
  const parts = [];
  for (let at = 0; at < bytes.length; at += 10_000)
    parts.push(latin1(bytes.subarray(at, at + 10_000)));
  return parts.join('');
}

/** What a text may be an encoding of; a run of base64 may begin in the middle of another text. */
function decodingsOf(text: string): string[] {
  const found: string[] = [];
  if (/^[[{"]/.test(text))
    try {
      JSON.parse(text, (key, value) => {
        found.push(key);
        if (typeof value === 'string' || typeof value === 'number') found.push(String(value));
      });
    } catch {
      // It is no JSON.
    }
  if (/%[0-9a-f]{2}/i.test(text)) found.push(unescape(text));
  for (const [run] of text.matchAll(/(?:[0-9a-f]{2}){6,}/gi))
    found.push(latin1(run.match(/../g)!.map((byte) => Number.parseInt(byte, 16))));
  for (const [run] of text.matchAll(/[\w+/-]{8,}/g))
    for (const offset of [0, 1, 2, 3]) {
      const coded = run.slice(offset).replaceAll('-', '+').replaceAll('_', '/');
      const whole = coded.slice(0, coded.length - (coded.length % 4 === 1 ? 1 : 0));
      found.push(atob(whole));
    }
  return found;
}

const deepest = 3;

/** Whether one of the marks stands in a text, however it is encoded, up to three times over. */
function holds(text: string, marks: string[], depth = deepest): boolean {
  if (marks.some((mark) => text.includes(mark))) return true;
  if (depth === 0) return false;
  return decodingsOf(text).some((decoded) => holds(decoded, marks, depth - 1));
}

const hexOf = (text: string) => hex(new TextEncoder().encode(text).slice().buffer);

const base64url = (text: string) =>
  btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/** An id as WhatsApp makes them: it contains the number, in base64. */
const whatsappIdOf = (phone: string, count: number) =>
  `wamid.${btoa(`\x1d\x04\x0b${phone.slice(1)}\x15\x02\x00\x12\x18\x14${String(count).padStart(20, '3A')}\x00`)}`;

describe('the search in stored values', () => {
  const mark = '15552345678';
  const id = whatsappIdOf(`+${mark}`, 1);

  it.each([
    ['text', mark],
    ['base64', btoa(`x${mark}`)],
    ['base64url behind a prefix', `usage_${base64url(`\xfe\xff${mark}`)}`],
    ['hex', hexOf(mark)],
    ["WhatsApp's id", id],
    ['JSON with one in it', JSON.stringify({ facts: { ids: [`usage_${id}`] } })],
    ['base64 of JSON of hex', btoa(JSON.stringify([hexOf(mark)]))],
    ['a query', `?from=%2B${mark.slice(0, 3)}%35${mark.slice(4)}`],
  ])('finds a number as %s', (_, text) => {
    expect(holds(text, [mark])).toBe(true);
    expect(holds(text, ['15559999999'])).toBe(false);
  });
});

/**
 * Where a number, an id or somebody's words stand as they are, and why. Everything else is a keyed hash or encrypted:
 * of the conversation, the events that quote, claims, and the messages with codes.
 */
const asTheyAre: Record<string, string> = {
  'users.phone': 'the number is the name of the account; what it opens is bound to it',
  'aliases.value': 'people are found by it, and events and the export give it back',
  'codes.phone': 'the code of a number, until an hour after its end',
  'link_codes.phone': 'a number whose page shows a link code, for 30 minutes',
  'link_codes.whatsapp_id': 'its spelling, to which the code is sent',
  'phone_changes.phone': 'the number that somebody wants, for five minutes',
  'phone_changes.whatsapp_id': 'its spelling, to which the code is sent',
  'outbox.phone': "for the owner's commands, until the bot has the event",
  'withdrawals.name': 'a statement stays as it was made, for the proof that the law asks for',
  'withdrawals.contact': 'so that a statement without an account finds its person',
  'withdrawals.email': 'to which its receipt is sent',
  'withdrawals.receipt': 'the text that was given stays, with the contact that stands in it',
};

it('a whole run of the product leaves numbers, ids and texts in the named columns alone', async () => {
  const mark = crypto.randomUUID().replaceAll('-', '');
  const said = (what: string) => `${what} by ${mark}`;
  const places = new Set<string>();
  /** Every table, and whether it has held a row. */
  const filled = new Map<string, boolean | undefined>();
  const marks = [mark, btoa(mark).slice(0, 40)];
  const tokens: string[] = [];
  /** For how many of the marks each value has been searched: most stand there at each look. */
  const searched = new Map<string, number>();
  let ids = 0;

  function known(phone: string): string {
    marks.push(phone.slice(1));
    return phone;
  }
  /** The next id of WhatsApp's for a number. */
  function nextId(phone: string): string {
    ids += 1;
    const id = whatsappIdOf(phone, ids);
    marks.push(id);
    return id;
  }
  async function look(): Promise<void> {
    const tables = await tablesNow(tokens);
    for (const { name, rows } of tables) filled.set(name, rows.length > 0 || filled.get(name));
    for (const { place, value } of storedIn(tables)) {
      const text = textOf(value);
      const key = `${place} ${text}`;
      const wanted = marks.slice(searched.get(key) ?? 0);
      searched.set(key, marks.length);
      if (wanted.length > 0 && !places.has(place) && holds(text, wanted)) places.add(place);
    }
  }
  const asBot = (path: string, phone: string, more: object = {}) =>
    botCall(`/api/bot/${path}`, { phone, ...more }, `${path}_${nextId(phone)}`);

  // Somebody whose number WhatsApp hides signs in.
  const hidden = await claimNumber(known(newPhone()));
  marks.push(hidden.businessUserId, hidden.businessUserId.slice(3));
  await look();
  await reportStatus(hidden.phone, {
    status: 'delivered',
    recipient_user_id: hidden.businessUserId,
  });
  const { token } = (await redeem(hidden)).body;
  const { phone } = hidden;
  tokens.push(token);
  expect(await linkedTo(phone)).toEqual([[hidden.businessUserId, 'claim']]);
  await externalSession(phone);

  // They write and speak; the bot counts, types, replies and writes down what was said.
  await consent(token);
  const messageId = crypto.randomUUID();
  await write(token, said('written'), messageId);
  await trialSession(phone, { tier: 'premium', days: 3 });
  const spoken = crypto.randomUUID();
  await sendRecording(token, recordingOf('audio/ogg'), { id: spoken });
  await untilAccepted(phone, 2);
  await asBot('contacts', phone, { whatsappId: phone.slice(1) });
  expect((await asBot('usage', phone)).body.allowed).toBe(true);
  await asBot('entitlements', phone);
  await asBot('typing', phone, { text: said('typed') });
  await asBot('transcripts', phone, { id: spoken, text: said('spoken') });
  const answer = {
    id: nextId(phone),
    text: said('replied'),
    replyTo: messageId,
    crisis: true,
  };
  expect((await asBot('messages', phone, answer)).status).toBe(200);
  const voice = {
    type: 'audio/ogg',
    seconds: 1,
    data: btoa(latin1(recordingOf('audio/ogg').bytes)),
  };
  await asBot('messages', phone, {
    id: nextId(phone),
    text: said('said'),
    voice,
  });
  await asBot('referrals', phone);
  expect((await readChat(token)).messages.map(({ text }) => text)).toContain(said('replied'));
  await look();

  // They want notices, buy, ask for the page again, and withdraw.
  const browser = await sandbox.newBrowser(phone);
  await call('PUT', '/api/user/push', { token, body: browser });
  await reply(phone, said('noticed'), nextId(phone));
  await subscribe(token, 'basic');
  await deliver(await customerOf(phone));
  await look();
  await call('POST', '/api/billing/withdrawal', {
    token,
    body: { email: `account-${mark}@example.com` },
  });

  // The bot fails, so that its events wait; somebody states without an account; another id comes with the number.
  await during({ bot: { status: 503, match: phone } }, async () => {
    await call('PUT', '/api/user/platform', {
      token,
      body: { platform: 'web' },
    });
    await write(token, said('waiting'));
    await call('POST', '/api/withdrawals', {
      body: {
        name: said('name'),
        contact: phone,
        email: `${mark}@example.com`,
      },
    });
    const foreignId = newBusinessUserId();
    marks.push(foreignId, foreignId.slice(3));
    const conflict = { phone, businessUserId: foreignId };
    expect((await botCall('/api/bot/contacts', conflict, nextId(phone))).status).toBe(409);
    await newCode(phone);
    expect((await requestOtp(phone)).status).toBe(429);
    await look();
  });
  await cronAfter(minute);
  await exportOf(token);

  // Their own id writes again, which ends the doubt, and they move to another number.
  await asBot('contacts', phone, { businessUserId: hidden.businessUserId });
  const own = await newPerson(phone);
  const begun = await beginChange(own.token, known(newPhone()));
  await look();
  expect((await verifyChange(own.token, begun)).status).toBe(200);
  await look();

  // They clear, withdraw the consent, and leave while the bot refuses to hear of it.
  await clearChat(own.token);
  await call('DELETE', '/api/user/chat/consent', { token: own.token });
  await look();
  await during({ bot: { status: 503, match: begun.phone } }, async () => {
    expect((await deleteAccount(own.token)).status).toBe(200);
    await look();
  });
  await cronAfter(2 * minute);
  await eventually(async () =>
    expect((await objectOf(token)).flatMap(({ rows }) => rows)).toEqual([]),
  );
  await look();

  expect([...places].toSorted()).toEqual(Object.keys(asTheyAre).toSorted());
  const unfilled = [...filled].flatMap(([name, hasHeld]) => (hasHeld ? [] : [name]));
  // A transaction empties the first; the others hold instants alone.
  expect(unfilled).toEqual(['decisions', 'cleared_times', 'storage']);

  // What stays are statements alone, when the link code of the former number has expired.
  places.clear();
  searched.clear();
  await cronAfter(31 * minute);
  await look();
  expect([...places].filter((place) => !place.startsWith('withdrawals.'))).toEqual([]);
});
