import { sql, type SQL } from 'drizzle-orm';
import { phoneSubjects, type PhoneNumber } from '../accounts/phone.ts';
import { networkOf } from '../lib/caller.ts';
import { keyedHash } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import type { Limit, Limited } from '../lib/rate-limits.ts';
import { dayMs } from '../lib/time.ts';
import type { Settings } from '../settings.ts';

/** The facts of a sign-in request; `now` in unix ms. */
export type SignInCall = { db: Database; settings: Settings; address: string; now: number };

/** Subjects of the rate limits on codes; an address may also be an IPv6 network. */
export const subjects = {
  everyCodeTo: async ({ CODE_PEPPER }: Settings, phone: PhoneNumber) =>
    `every-code:${await keyedHash(CODE_PEPPER[0]!, 'phone', phone)}`,
  codesTo: (phone: PhoneNumber) => `${phoneSubjects.codesTo}${phone}`,
  wrongTriesAt: (phone: PhoneNumber) => `${phoneSubjects.wrongTriesAt}${phone}`,
  codesFrom: (address: string) => `codes-from:${address}`,
  requestsFrom: (address: string) => `requests-from:${address}`,
  triesFrom: (address: string) => `tries-from:${address}`,
};

/** The rate-limit subjects of a code, with their limits. */
export async function limitsOf({ settings, address }: SignInCall, phone: PhoneNumber) {
  const network = networkOf(address);
  const per = (subjectOf: (address: string) => string, byAddress: Limit[], byNetwork: Limit[]): Limited[] => [
    { subject: subjectOf(address), limits: byAddress },
    ...(network ? [{ subject: subjectOf(network), limits: byNetwork }] : []),
  ];
  return {
    requests: per(
      subjects.requestsFrom,
      settings.LIMIT_CODE_REQUESTS_PER_ADDRESS,
      settings.LIMIT_CODE_REQUESTS_PER_NETWORK,
    ),
    codes: [
      // A contact clears the other limits of its number, but not this one, which outlives the account as a keyed hash.
      { subject: await subjects.everyCodeTo(settings, phone), limits: settings.LIMIT_CODES_PER_NUMBER_HARD },
      { subject: subjects.codesTo(phone), limits: settings.LIMIT_CODES_PER_NUMBER },
      ...per(subjects.codesFrom, settings.LIMIT_CODES_PER_ADDRESS, settings.LIMIT_CODES_PER_NETWORK),
    ],
    wrongTries: [{ subject: subjects.wrongTriesAt(phone), limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER }],
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
