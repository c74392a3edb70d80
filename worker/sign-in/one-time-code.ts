import { and, eq, gt, isNotNull, sql, type SQL } from 'drizzle-orm';
import { base64url } from 'jose';
import { codes, dailyCodes, linkCodes, rateLimitEvents, users } from '#db/schema';
import { spellingOf, userOf } from '../accounts/identity.ts';
import { isSpellingOf, phoneSubjects, type PhoneNumber } from '../accounts/phone.ts';
import type { Language } from '../contract/languages.ts';
import { networkOf } from '../lib/caller.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { batch, type Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import {
  allowedAt,
  hashedSubject,
  insertEvents,
  type Limit,
  type Limited,
} from '../lib/rate-limits.ts';
import { excluded, insertSelect, isIn, nameOf } from '../lib/sql.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import type { Settings } from '../settings.ts';

/** The facts of a sign-in request; `now` in unix ms. */
export type SignInCall = { db: Database; settings: Settings; address: string; now: number };

/** The subjects of the rate limits on codes: keyed hashes of the number, of the caller's address and of its network. */
export async function subjectsOf(
  { settings, address }: Pick<SignInCall, 'settings' | 'address'>,
  phone: PhoneNumber,
) {
  const hashesOf = (of: string) => keyedHashes(settings.CODE_PEPPER, 'limit', of);
  const network = networkOf(address);
  const [number, caller, callersNetwork] = await Promise.all([
    phoneSubjects(settings, phone),
    hashesOf(address),
    network ? hashesOf(network) : null,
  ]);
  return {
    ...number,
    address: fromSubjects(caller),
    network: callersNetwork && fromSubjects(callersNetwork),
  };
}

const fromSubjects = (hashes: string[]) => ({
  codesFrom: hashedSubject('codes-from', hashes),
  requestsFrom: hashedSubject('requests-from', hashes),
  triesFrom: hashedSubject('tries-from', hashes),
});

export async function limitsOf(call: SignInCall, phone: PhoneNumber) {
  const { settings } = call;
  const { everyCodeTo, codesTo, wrongTriesAt, address, network } = await subjectsOf(call, phone);
  const per = (
    of: 'codesFrom' | 'requestsFrom',
    byAddress: Limit[],
    byNetwork: Limit[],
  ): Limited[] => [
    { subject: address[of], limits: byAddress },
    ...(network ? [{ subject: network[of], limits: byNetwork }] : []),
  ];
  return {
    requests: per(
      'requestsFrom',
      settings.LIMIT_CODE_REQUESTS_PER_ADDRESS,
      settings.LIMIT_CODE_REQUESTS_PER_NETWORK,
    ),
    codes: [
      // A contact clears the other limits of its number, but not this one, which outlives the account.
      { subject: everyCodeTo, limits: settings.LIMIT_CODES_PER_NUMBER_HARD },
      { subject: codesTo, limits: settings.LIMIT_CODES_PER_NUMBER },
      ...per('codesFrom', settings.LIMIT_CODES_PER_ADDRESS, settings.LIMIT_CODES_PER_NETWORK),
    ],
    wrongTries: [{ subject: wrongTriesAt, limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER }],
  };
}

const lowShare = 0.8;
const retryAfterAtMost = 3600;

/** A number whose owner wrote within this time (ms) passes the budget and the address's limit, which strangers could use up. */
const provenForMs = 600_000;

/** The day that a code counts for: days since 1970-01-01 UTC. */
export function codeDay(now: number): number {
  return Math.floor(now / dayMs);
}

export const sentToday = (
  now: number,
) => sql<number>`coalesce((select ${dailyCodes.sent} from ${dailyCodes}
  where ${dailyCodes.day} = ${codeDay(now)}), 0)`;

/** The wait (seconds) for the next day's budget, at most an hour. */
export function untilNextBudget(now: number): number {
  return Math.min(retryAfterAtMost, Math.ceil((dayMs - (now % dayMs)) / 1000));
}

/** SQL: whether today's codes leave room for another one; a proven number may go on until twice the budget. */
export function isAffordable(
  sent: SQL,
  proven: SQL,
  { CODE_BUDGET_PER_DAY: budget }: Settings,
): SQL {
  return sql`(${sent} < case when ${proven} then ${2 * budget} else ${budget} end)`;
}

/** Logs the code that reaches 80 % of the budget and the one that reaches all of it; each count occurs once a day. */
export function reportCodeBudget(sent: number, budget: number): void {
  if (sent === budget) log('error', 'code_budget_spent', { sent, budget });
  else if (sent === Math.ceil(budget * lowShare)) log('error', 'code_budget_low', { sent, budget });
}

const span = 1_000_000;
const codesBelow = Math.floor(2 ** 32 / span) * span;

/** Six random digits, each code as likely as any other. */
export function newCode(): string {
  const number = crypto.getRandomValues(new Uint32Array(1))[0]!;
  return number < codesBelow ? String(number % span).padStart(6, '0') : newCode();
}

/** Without 0 and O, 1, I and L, which people confuse. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const linkCodeLength = 8;
const charactersBelow = 256 - (256 % alphabet.length);

/** Eight random characters, each text as likely as any other. */
export function newLinkCode(): string {
  const characters = [...crypto.getRandomValues(new Uint8Array(4 * linkCodeLength))]
    .filter((byte) => byte < charactersBelow)
    .map((byte) => alphabet[byte % alphabet.length]);
  return characters.length < linkCodeLength
    ? newLinkCode()
    : characters.slice(0, linkCodeLength).join('');
}

/** 192 random bits. */
function newChallenge(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(24)));
}

export async function codeRow(settings: Settings, phone: PhoneNumber, code: string, now: number) {
  return {
    phone,
    mac: await keyedHash(settings.CODE_PEPPER[0]!, 'code', phone, code),
    sentBy: crypto.randomUUID(),
    expiresAt: now + settings.CODE_LIFETIME_SECONDS * 1000,
    triesLeft: settings.CODE_TRIES,
  };
}

/** The challenge under which the newest code of a number stands, for callers who have none. */
export const newestCode = '';

type CodeRow = Awaited<ReturnType<typeof codeRow>>;

/** SQL that makes a code the newest one and, where `issued` holds, that of a challenge and one of the day's. */
export function insertCode(
  row: CodeRow,
  of: { challengeId: string; now: number },
  when: SQL,
  issued: SQL = when,
) {
  const { challengeId, now } = of;
  const sent = { ...row, sentAt: now };
  return {
    code: sql`${insertSelect(codes, { ...sent, challenge: newestCode }, sql`where ${when}`)}
      on conflict (${nameOf(codes.phone)}, ${nameOf(codes.challenge)}) do update set
      ${replaced([codes.mac, codes.sentBy, codes.sentAt, codes.expiresAt, codes.triesLeft])}`,
    day: sql`${insertSelect(dailyCodes, { day: codeDay(now), sent: 1 }, sql`where ${issued}`)}
      on conflict (${nameOf(dailyCodes.day)}) do update set ${nameOf(dailyCodes.sent)} = ${dailyCodes.sent} + 1`,
    challenge: insertSelect(codes, { ...sent, challenge: challengeId }, sql`where ${issued}`),
  };
}

export function removeCode(phone: PhoneNumber, id: string, now: number): SQL[] {
  const own = and(eq(codes.phone, phone), eq(codes.sentBy, id));
  const day = and(
    eq(dailyCodes.day, codeDay(now)),
    sql`exists (select 1 from ${codes} where ${own})`,
  );
  return [
    sql`update ${dailyCodes} set ${nameOf(dailyCodes.sent)} = ${dailyCodes.sent} - 1 where ${day}`,
    sql`delete from ${codes} where ${own}`,
  ];
}

function replaced(columns: Parameters<typeof nameOf>[0][]): SQL {
  return sql.join(
    columns.map((column) => sql`${nameOf(column)} = ${excluded(column)}`),
    sql`, `,
  );
}

const linkCodeLifetimeMs = 30 * minuteMs;

type Shown = { linkCode: string; phone: PhoneNumber; phoneAsSent: string };
type Page = Pick<SignInCall, 'settings' | 'now'> & { language: Language };

/** SQL that stores a link code for a number, under a condition. It is the challenge of the code that a claim sends. */
async function insertLinkCode(
  { settings, now, language }: Page,
  shown: Shown,
  when: SQL,
): Promise<SQL> {
  const { linkCode, phone, phoneAsSent } = shown;
  const [pepper] = settings.CODE_PEPPER as [string];
  const mac = await keyedHash(pepper, 'link-code', linkCode);
  const challengeId = await keyedHash(pepper, 'challenge', phone, linkCode);
  const row = {
    mac,
    phone,
    whatsappId: phoneAsSent.slice(1),
    challengeId,
    language,
    expiresAt: now + linkCodeLifetimeMs,
  };
  return insertSelect(linkCodes, row, sql`where ${when}`);
}

type IssueRow = {
  asked: number;
  known: number;
  whatsappId: string | null;
  issued: number;
  askAt: number;
  allowedAt: number;
  sent: number;
};

export type Issued = {
  id: string;
  /** What only the caller learns: with it, a code has tries of its own. */
  challenge: string;
  /** What proves a message from WhatsApp to be of the caller's; stored only for a number that has never written. */
  linkCode: string;
  /** Unix ms; 0 if no limit was reached. */
  limitedUntil: number;
  /** Today's budget is spent, and the number has not written recently. */
  budgetSpent: boolean;
  /** Where to send the code; null when the number has never written. */
  whatsappId: string | null;
  nextAfterSeconds: number;
};

type Asked = { phone: PhoneNumber; phoneAsSent: string };

/** Makes `code` the only live code without a challenge, and that of a new one, if limits and a contact allow it. */
export async function issueCode(
  call: SignInCall & { language: Language },
  { phone, phoneAsSent }: Asked,
  code: string,
): Promise<Issued> {
  const { db, settings, now } = call;
  const challenge = newChallenge();
  const [limits, row, challengeId] = await Promise.all([
    limitsOf(call, phone),
    codeRow(settings, phone, code, now),
    keyedHash(settings.CODE_PEPPER[0]!, 'challenge', phone, challenge),
  ]);
  const id = row.sentBy;
  const mayAsk = allowedAt(limits.requests, now);
  const owner = userOf('phone', phone);
  const proven = exists(
    users,
    and(eq(users.id, owner), gt(users.lastContactAt, now - provenForMs)),
  );
  const maySend = allowedAt([...limits.codes, ...limits.wrongTries], now);
  const asked = sql`(${mayAsk} <= ${now} or ${proven})`;
  const known = exists(users, and(eq(users.id, owner), isNotNull(users.contactedAt)));
  const issued = exists(codes, and(eq(codes.phone, phone), eq(codes.sentBy, id)));
  const affordable = isAffordable(sentToday(now), proven, settings);
  const mayIssue = sql`${asked} and ${known} and ${maySend} <= ${now} and ${affordable}`;
  const { code: newest, ...counted } = insertCode(row, { challengeId, now }, mayIssue, issued);
  const wasCounted = sql`exists (select 1 from ${rateLimitEvents} where ${rateLimitEvents.subject} = ${limits.requests[0]!.subject[0]}
    and ${rateLimitEvents.at} = ${now} and ${rateLimitEvents.by} = ${id})`;
  const linkCode = newLinkCode();
  const shown = { linkCode, phone, phoneAsSent };
  const { facts } = await batch(db, {
    newest: db.run(newest),
    events: db.run(
      insertEvents(id, now, [
        // A request for a known number counts as a code alone.
        [limits.requests.map(({ subject }) => subject), sql`${mayAsk} <= ${now} and not ${issued}`],
        [limits.codes.map(({ subject }) => subject), issued],
      ]),
    ),
    day: db.run(counted.day),
    challenge: db.run(counted.challenge),
    linkCode: db.run(await insertLinkCode(call, shown, sql`${wasCounted} and not ${known}`)),
    facts:
      db.all<IssueRow>(sql`select (${issued} or ${proven} or ${wasCounted}) as asked, ${known} as known,
      ${issued} as issued, ${mayAsk} as askAt, ${maySend} as allowedAt, ${sentToday(now)} as sent,
      ${spellingOf(owner)} as whatsappId`),
  });
  const outcome = facts[0]!;
  if (outcome.issued) reportCodeBudget(outcome.sent, settings.CODE_BUDGET_PER_DAY);
  const nextAfterSeconds = Math.ceil((outcome.allowedAt - now) / 1000);
  const result = resultOf(outcome, now);
  // A database that somebody else can write must not lead codes to another phone.
  const isForeign = result.whatsappId !== null && !isSpellingOf(phone, result.whatsappId);
  return {
    id,
    challenge,
    linkCode,
    nextAfterSeconds,
    ...result,
    ...(isForeign && { whatsappId: phone.slice(1) }),
  };
}

export async function withdrawCode(
  call: SignInCall,
  phone: PhoneNumber,
  id: string,
): Promise<void> {
  const { db, now } = call;
  const { codes: limited } = await limitsOf(call, phone);
  const counted = limited.flatMap(({ subject }) => subject);
  const events = and(
    isIn(rateLimitEvents.subject, counted),
    eq(rateLimitEvents.at, now),
    eq(rateLimitEvents.by, id),
  );
  const removals = removeCode(phone, id, now).map((statement) => db.run(statement));
  await db.batch([db.delete(rateLimitEvents).where(events), ...removals]);
}

function exists(table: typeof codes | typeof users, where: SQL | undefined): SQL {
  return sql`exists (select 1 from ${table} where ${where})`;
}

function resultOf(
  outcome: IssueRow,
  now: number,
): Pick<Issued, 'limitedUntil' | 'budgetSpent' | 'whatsappId'> {
  const none = { limitedUntil: 0, budgetSpent: false, whatsappId: null };
  if (!outcome.asked) return { ...none, limitedUntil: outcome.askAt };
  if (!outcome.known) return none;
  if (outcome.issued) return { ...none, whatsappId: outcome.whatsappId };
  return outcome.allowedAt > now
    ? { ...none, limitedUntil: outcome.allowedAt }
    : { ...none, budgetSpent: true };
}
