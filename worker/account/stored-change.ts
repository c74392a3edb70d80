import { and, eq, ne, type SQL } from 'drizzle-orm';
import { dailyCodes, phoneChanges, rateLimitEvents } from '#db/schema';
import type { PhoneNumber } from '../identity/phone.ts';
import type { UserSession } from '../identity/user-session.ts';
import { keyedHash } from '../lib/crypto.ts';
import { iif, minus, plus, rowExists } from '../lib/expressions.ts';
import { recordEvents, subjectsIn, type Limited, type Subject } from '../lib/rate-limits.ts';
import { excluded, isIn } from '../lib/sql.ts';
import { sql } from '../lib/sql-text.ts';
import type { Transaction } from '../lib/transaction.ts';
import { codeDay } from '../sign-in/code-budget.ts';
import { limitsOf } from '../sign-in/code-limits.ts';
import type { EnvScope } from '../env.ts';
import type { Scope } from '../request-scope.ts';

export type ChangeScope = EnvScope &
  Scope<'address' | 'language' | 'now'> & { session: UserSession };

export type NewNumber = { phone: PhoneNumber; phoneAsSent: string };

export const phoneChangeSubject = (userId: string) => `phone-changes:${userId}`;

type NewChange = {
  row: Awaited<ReturnType<typeof changeRow>>;
  limits: Awaited<ReturnType<typeof limitsOfChange>>;
  sentBy: string;
  now: number;
};

/**
 * A taken number gets the same rows, but no code matches, and the code counts under its
 * `unsent-` names alone.
 */
export function storeChange<Outcome extends string>(
  tx: Transaction<Outcome | 'sent' | 'taken', unknown>,
  isFree: SQL,
  { row, limits, sentBy, now }: NewChange,
): void {
  // No code matches the empty text.
  const mac = iif<string>(isFree, row.mac, '');
  tx.insert(['sent', 'taken'], phoneChanges, { ...row, mac });

  recordEvents(tx, ['sent', 'taken'], subjectsIn(limits.ofCaller), {
    now,
    by: sentBy,
  });
  const subjects = iif(isFree, JSON.stringify(limits.sentTo), JSON.stringify(limits.unsentTo));
  const event = {
    subject: sql`name.value`,
    at: now,
    by: sentBy,
  };
  const from = sql`json_each(${subjects}) as name`;
  tx.insert(['sent', 'taken'], rateLimitEvents, event, { from });

  const { day, sent } = dailyCodes;
  const set = { sent: plus(sent, excluded(sent)) };
  const today = { day: codeDay(now), sent: isFree };
  tx.insert(['sent', 'taken'], dailyCodes, today, {
    upsert: {
      target: [day],
      set,
    },
  });
}

export async function changeRow(
  { session, settings, now }: ChangeScope,
  { phone, phoneAsSent }: NewNumber,
  { challenge, code }: { challenge: string; code: string },
) {
  const { tokenUserId: userId } = session;
  const [pepper] = settings.CODE_PEPPER as [string];
  const [id, mac] = await Promise.all([
    keyedHash(pepper, 'phone-change', userId, phone, challenge),
    keyedHash(pepper, 'phone-change', userId, phone, 'code', code),
  ]);

  return {
    id,
    userId,
    phone,
    whatsappId: phoneAsSent.slice(1),
    mac,
    expiresAt: now + settings.require('CODE_LIFETIME_SECONDS') * 1000,
    triesLeft: settings.require('CODE_TRIES'),
  };
}

/**
 * Codes that a taken number did not get are counted under other names,
 * so that nobody keeps its holder from signing in; they limit as the others do.
 */
export async function limitsOfChange(scope: ChangeScope, phone: PhoneNumber) {
  const { session, settings } = scope;
  const { codesTo, codesFrom } = await limitsOf(scope, phone);
  const unsent = (subject: Subject) => subject.map((name) => `unsent-${name}`);

  const ofUser: Limited = {
    subject: [phoneChangeSubject(session.tokenUserId)],
    limits: settings.require('LIMIT_CODES_PER_NUMBER'),
  };
  return {
    ofCaller: [ofUser, ...codesFrom],
    ofNumber: codesTo.map(({ subject, limits }) => ({
      subject: [...subject, ...unsent(subject)],
      limits,
    })),
    sentTo: codesTo.map(({ subject: [name] }) => name),
    unsentTo: codesTo.map(({ subject }) => unsent(subject)[0]),
  };
}

export async function undoChange(
  { db, now }: Scope<'db' | 'now'>,
  id: string,
  { sentBy, subjects }: { sentBy: string; subjects: string[] },
): Promise<void> {
  const own = eq(phoneChanges.id, id);
  const isSent = rowExists(phoneChanges, and(own, ne(phoneChanges.mac, '')));

  const { subject, at, by } = rateLimitEvents;
  await db.batch([
    db
      .update(dailyCodes)
      .set({ sent: minus(dailyCodes.sent, 1) })
      .where(and(eq(dailyCodes.day, codeDay(now)), isSent)),
    db.delete(rateLimitEvents).where(and(isIn(subject, subjects), eq(at, now), eq(by, sentBy))),
    db.delete(phoneChanges).where(own),
  ]);
}
