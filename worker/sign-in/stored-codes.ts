import { and, eq } from 'drizzle-orm';
import { codes, dailyCodes, rateLimitEvents } from '#db/schema';
import type { PhoneNumber } from '../identity/phone.ts';
import { keyedHash } from '../lib/crypto.ts';
import { minus, plus, rowExists } from '../lib/expressions.ts';
import { isIn } from '../lib/sql.ts';
import { pause } from '../lib/time.ts';
import type { On, Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import type { Scope } from '../request-scope.ts';
import { codeDay } from './code-budget.ts';

/** For callers who have no challenge. */
export const newestCode = '';

type Code = {
  phone: PhoneNumber;
  code: string;
  sentBy: string;
  now: number;
};

export async function codeRow(settings: Settings, { phone, code, sentBy, now }: Code) {
  return {
    phone,
    mac: await keyedHash(settings.CODE_PEPPER[0]!, 'code', phone, code),
    sentBy,
    sentAt: now,
    expiresAt: now + settings.require('CODE_LIFETIME_SECONDS') * 1000,
    triesLeft: settings.require('CODE_TRIES'),
  };
}

export type CodeRow = Awaited<ReturnType<typeof codeRow>>;

export function insertCode<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { phone, ...row }: CodeRow,
  challenge: string,
): void {
  const target = [codes.phone, codes.challenge];
  tx.insert(
    on,
    codes,
    { phone, challenge: newestCode, ...row },
    {
      upsert: {
        target,
        set: row,
      },
    },
  );
  tx.insert(on, codes, { phone, challenge, ...row });

  const today = { day: codeDay(row.sentAt), sent: 1 };
  const set = { sent: plus(dailyCodes.sent, 1) };
  tx.insert(on, dailyCodes, today, {
    upsert: {
      target: [dailyCodes.day],
      set,
    },
  });
}

const undoTimeoutMs = 1000;

/**
 * Awaits the transaction that stores a code. If its response is lost, no code is
 * sent: `undo` removes the rows (this waits for it at most 1 s), so that the
 * same call sends one.
 */
export async function orUndone<T>(
  { db, waitUntil }: Scope<'db' | 'waitUntil'>,
  stored: Promise<T>,
  undo: () => Promise<unknown>,
): Promise<T> {
  try {
    return await stored;
  } catch (error) {
    if (db.traffic?.unreachable) {
      const undone = undo().catch(() => undefined);
      waitUntil(undone);
      await Promise.race([undone, pause(undoTimeoutMs)]);
    }
    throw error;
  }
}

type UndoCodeRowsOptions = {
  phone: PhoneNumber;
  sentBy: string;
  now: number;
  subjects: string[];
};

export function undoCodeRows<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  { phone, sentBy, now, subjects }: UndoCodeRowsOptions,
): void {
  const own = codesOfSql(phone, sentBy);
  const isDayOfCode = and(eq(dailyCodes.day, codeDay(now)), rowExists(codes, own));
  const isEventOfCode = and(
    isIn(rateLimitEvents.subject, subjects),
    eq(rateLimitEvents.at, now),
    eq(rateLimitEvents.by, sentBy),
  );

  tx.update(on, dailyCodes, { sent: minus(dailyCodes.sent, 1) }, isDayOfCode);
  tx.delete(on, codes, own);
  tx.delete(on, rateLimitEvents, isEventOfCode);
}

export const codesOfSql = (phone: PhoneNumber, sentBy: string) =>
  and(eq(codes.phone, phone), eq(codes.sentBy, sentBy))!;
