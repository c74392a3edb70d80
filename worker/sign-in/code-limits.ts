import { sql, type SQL } from 'drizzle-orm';
import { dailyCodes } from '#db/schema';
import { phoneSubjects, type PhoneNumber } from '../accounts/phone.ts';
import { networkOf } from '../lib/caller.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { hashedSubject, type Limit, type Limited } from '../lib/rate-limits.ts';
import { dayMs } from '../lib/time.ts';
import type { Settings } from '../settings.ts';

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

/** SQL: the codes that were sent today. */
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
