import { and, eq, sql, type SQL } from 'drizzle-orm';
import { challenges, codes, dailyCodes } from '#db/schema';
import type { PhoneNumber } from '../accounts/phone.ts';
import { keyedHash } from '../lib/crypto.ts';
import { excluded, insertSelect, nameOf } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';
import { codeDay } from './code-limits.ts';

const span = 1_000_000;
const unbiasedBelow = Math.floor(2 ** 32 / span) * span;

/** Six random digits, each code as likely as any other. */
export function newCode(): string {
  const number = crypto.getRandomValues(new Uint32Array(1))[0]!;
  return number < unbiasedBelow ? String(number % span).padStart(6, '0') : newCode();
}

/** The row of a new code; its id is `sentBy`. */
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

/**
 * SQL that makes a code the number's newest one under a condition, and, where the condition `issued` then holds, the
 * code of a challenge and one of the day's.
 */
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

/** SQL that removes a code that was not sent, with its challenge and its place among the day's. */
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
