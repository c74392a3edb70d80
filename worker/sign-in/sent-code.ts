import { sql, type SQL, and, eq } from 'drizzle-orm';
import { dailyCodes, challenges, codes } from '#db/schema';
import { phoneSubjects, type PhoneNumber } from '../accounts/phone.ts';
import { networkOf } from '../lib/caller.ts';
import { keyedHashes, keyedHash } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { hashedSubject, type Limit, type Limited } from '../lib/rate-limits.ts';
import { dayMs } from '../lib/time.ts';
import type { Settings } from '../settings.ts';
import { excluded, insertSelect, nameOf } from '../lib/sql.ts';

/** The facts of a sign-in request; `now` in unix ms. */
export type SignInCall = { db: Database; settings: Settings; address: string; now: number };

/** The subjects of the rate limits on codes: keyed hashes of the number, of the caller's address and of its network. */
export async function subjectsOf({ settings, address }: Pick<SignInCall, 'settings' | 'address'>, phone: PhoneNumber) {
  const hashesOf = (of: string) => keyedHashes(settings.CODE_PEPPER, 'limit', of);
  const network = networkOf(address);
  const [number, caller, callersNetwork] = await Promise.all([
    phoneSubjects(settings, phone),
    hashesOf(address),
    network ? hashesOf(network) : null,
  ]);
  return { ...number, address: fromSubjects(caller), network: callersNetwork && fromSubjects(callersNetwork) };
}

const fromSubjects = (hashes: string[]) => ({
  codesFrom: hashedSubject('codes-from', hashes),
  requestsFrom: hashedSubject('requests-from', hashes),
  triesFrom: hashedSubject('tries-from', hashes),
});

/** The rate-limit subjects of a code, with their limits. */
export async function limitsOf(call: SignInCall, phone: PhoneNumber) {
  const { settings } = call;
  const { everyCodeTo, codesTo, wrongTriesAt, address, network } = await subjectsOf(call, phone);
  const per = (of: 'codesFrom' | 'requestsFrom', byAddress: Limit[], byNetwork: Limit[]): Limited[] => [
    { subject: address[of], limits: byAddress },
    ...(network ? [{ subject: network[of], limits: byNetwork }] : []),
  ];
  return {
    requests: per('requestsFrom', settings.LIMIT_CODE_REQUESTS_PER_ADDRESS, settings.LIMIT_CODE_REQUESTS_PER_NETWORK),
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

/**
 * A number whose owner wrote within this time (ms) passes the budget and the address's limit of requests, which
 * strangers could use up.
 */
export const provenForMs = 600_000;

/** The day that a code counts for: days since 1970-01-01 UTC. */
export function codeDay(now: number): number {
  return Math.floor(now / dayMs);
}

export const sentToday = (now: number) => sql<number>`coalesce((select ${dailyCodes.sent} from ${dailyCodes}
  where ${dailyCodes.day} = ${codeDay(now)}), 0)`;

/** The wait (seconds) for the next day's budget, at most an hour. */
export function untilNextBudget(now: number): number {
  return Math.min(retryAfterAtMost, Math.ceil((dayMs - (now % dayMs)) / 1000));
}

/** SQL: whether today's codes leave room for another one; a proven number may go on until twice the budget. */
export function isAffordable(sent: SQL, proven: SQL, { CODE_BUDGET_PER_DAY: budget }: Settings): SQL {
  return sql`(${sent} < case when ${proven} then ${2 * budget} else ${budget} end)`;
}

/** Logs the code that reaches 80 % of the budget and the one that reaches all of it; each count occurs once a day. */
export function reportCodeBudget(sent: number, budget: number): void {
  if (sent === budget) log('error', 'code_budget_spent', { sent, budget });
  else if (sent === Math.ceil(budget * lowShare)) log('error', 'code_budget_low', { sent, budget });
}

const span = 1_000_000;
const unbiasedBelow = Math.floor(2 ** 32 / span) * span;

/** Six random digits, each code as likely as any other. */
export function newCode(): string {
  const number = crypto.getRandomValues(new Uint32Array(1))[0]!;
  return number < unbiasedBelow ? String(number % span).padStart(6, '0') : newCode();
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

type CodeRow = Awaited<ReturnType<typeof codeRow>>;

/** SQL that makes a code the newest one and, where `issued` holds, that of a challenge and one of the day's. */
export function insertCode(row: CodeRow, of: { challengeId: string; now: number }, when: SQL, issued: SQL = when) {
  const { challengeId, now } = of;
  return {
    code: sql`${insertSelect(codes, row, sql`where ${when}`)} on conflict (${nameOf(codes.phone)}) do update set
      ${replaced([codes.mac, codes.sentBy, codes.expiresAt, codes.triesLeft])},
      ${nameOf(codes.triedBy)} = null, ${nameOf(codes.wonBy)} = null`,
    day: sql`${insertSelect(dailyCodes, { day: codeDay(now), sent: 1 }, sql`where ${issued}`)}
      on conflict (${nameOf(dailyCodes.day)}) do update set ${nameOf(dailyCodes.sent)} = ${dailyCodes.sent} + 1`,
    challenge: insertSelect(challenges, { ...row, id: challengeId, sentAt: now }, sql`where ${issued}`),
  };
}

export function removeCode(phone: PhoneNumber, id: string, now: number): SQL[] {
  const own = and(eq(codes.phone, phone), eq(codes.sentBy, id));
  const day = and(eq(dailyCodes.day, codeDay(now)), sql`exists (select 1 from ${codes} where ${own})`);
  const ofChallenge = and(eq(challenges.phone, phone), eq(challenges.sentBy, id));
  return [
    sql`update ${dailyCodes} set ${nameOf(dailyCodes.sent)} = ${dailyCodes.sent} - 1 where ${day}`,
    sql`delete from ${codes} where ${own}`,
    sql`delete from ${challenges} where ${ofChallenge}`,
  ];
}

function replaced(columns: Parameters<typeof nameOf>[0][]): SQL {
  return sql.join(
    columns.map((column) => sql`${nameOf(column)} = ${excluded(column)}`),
    sql`, `,
  );
}
