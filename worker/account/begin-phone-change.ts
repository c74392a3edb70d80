import { and, eq, gt, gte, isNotNull, isNull, ne, not, type SQL } from 'drizzle-orm';
import { dailyCodes, phoneChanges, rateLimitEvents, sessions } from '#db/schema';
import { userOfSql } from '../identity/aliases.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import type { Authorized, UserSession } from '../identity/user-session.ts';
import { keyedHash } from '../lib/crypto.ts';
import { iif, minus, plus, rowExists } from '../lib/expressions.ts';
import {
  allowedAtSql,
  type Limited,
  recordEvents,
  subjectsIn,
  type Subject,
} from '../lib/rate-limits.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { excluded, isIn } from '../lib/sql.ts';
import { minuteMs } from '../lib/time.ts';
import type { Transaction } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import { sendCode } from '../messaging/whatsapp.ts';
import {
  codeDay,
  reportCodeBudget,
  sentTodaySql,
  untilNextBudget,
} from '../sign-in/code-budget.ts';
import { limitsOf } from '../sign-in/code-limits.ts';
import { newChallenge, newCode } from '../sign-in/code-secrets.ts';
import { orUndone } from '../sign-in/stored-codes.ts';
import type { EnvScope } from '../env.ts';
import type { Scope } from '../request-scope.ts';

export const phoneChangeSubject = (userId: string) => `phone-changes:${userId}`;

const freshForMs = 10 * minuteMs;

export type ChangeScope = EnvScope &
  Scope<'address' | 'language' | 'now'> & { session: UserSession };

type NewNumber = { phone: PhoneNumber; phoneAsSent: string };

export function isFresh({ session, now }: ChangeScope) {
  const { id, userId, createdAt, isLimited } = sessions;
  const own = and(eq(id, session.sessionId), eq(userId, session.admittedUserSql()));
  return rowExists(sessions, and(own, gt(createdAt, now - freshForMs), eq(isLimited, false)));
}

/**
 * Sends a code to the wanted number. The first condition that holds decides:
 *
 * | outcome        | condition                      | response  | rows                            |
 * | -------------- | ------------------------------ | --------- | ------------------------------- |
 * | `signInNeeded` | the session is limited, or     | 403       | none                            |
 * |                | over ten minutes old           |           |                                 |
 * | `limited`      | the user, the address, its     | 429       | none                            |
 * |                | network or the number had too  |           |                                 |
 * |                | many codes                     |           |                                 |
 * | `budgetSpent`  | the codes of today reach their | 503       | none                            |
 * |                | budget                         |           |                                 |
 * | `taken`        | the number has a user, perhaps | challenge | as `sent`, but an empty `mac`,  |
 * |                | the caller                     |           | the events of the number as     |
 * |                |                                |           | `unsent-…`, and 0 more in       |
 * |                |                                |           | `daily_codes`                   |
 * | `sent`         | none of these                  | challenge | `phone_changes`; `daily_codes`  |
 * |                |                                |           | + 1; `rate_limit_events` of     |
 * |                |                                |           | user, address, network, and two |
 * |                |                                |           | of the number                   |
 *
 * `taken` must not show, so it writes as many rows as `sent`. The code is sent after the response;
 * it counts even if WhatsApp refuses it, and its status adds a row of `code_messages` without a
 * number. Earlier changes of the account stay live. By `LIMIT_CODES_PER_NUMBER` (1 in 30 s) one
 * of parallel calls of a user, or for a number, passes. If the response of the database is lost,
 * `undoChange` takes the rows back, and the call fails with 503.
 */
export async function beginPhoneChange(
  scope: ChangeScope,
  wanted: NewNumber,
): Promise<Authorized<string>> {
  const { session, settings, now, waitUntil } = scope;
  const [challenge, code, sentBy] = [newChallenge(), newCode(), crypto.randomUUID()];
  const row = await changeRow(scope, wanted, { challenge, code });
  const limits = await limitsOfChange(scope, wanted.phone);

  const decided = session.decide({
    facts: {
      isFresh: isFresh(scope),
      mayBeginAt: allowedAtSql([...limits.ofCaller, ...limits.ofNumber]),
      sentToday: sentTodaySql(now),
      holder: userOfSql('phone', wanted.phone),
    },

    outcomes: (facts) => ({
      signInNeeded: not(facts.isFresh),
      limited: gt(facts.mayBeginAt, now),
      budgetSpent: gte(facts.sentToday, settings.require('CODE_BUDGET_PER_DAY')),
      taken: isNotNull(facts.holder),
    }),
    otherwise: 'sent',

    effects: (tx) => {
      const isFree = isNull(tx.fact('holder'));
      storeChange(tx, isFree, { row, limits, sentBy, now });
    },

    respond: ({ outcome, facts }) => {
      switch (outcome) {
        case 'signInNeeded':
          throw new RequestError('signInNeeded');
        case 'limited':
          throw rateLimited(facts.mayBeginAt, now);
        case 'budgetSpent':
          throw new RequestError('unavailable', { retryAfter: untilNextBudget(now) });
        case 'taken':
          return challenge;
        case 'sent':
          reportCodeBudget(facts.sentToday + 1, settings.require('CODE_BUDGET_PER_DAY'));
          // A code that WhatsApp refuses counts too, as one for a taken number does.
          waitUntil(sendCode(scope, row.whatsappId, { code, sentBy }));
          return challenge;
      }
    },
  });

  const { ofCaller, ofNumber } = limits;
  const subjects = subjectsIn([...ofCaller, ...ofNumber]).flat();
  return orUndone(scope, decided, () => undoChange(scope, row.id, { sentBy, subjects }));
}

async function undoChange(
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

type NewChange = {
  row: Awaited<ReturnType<typeof changeRow>>;
  limits: Awaited<ReturnType<typeof limitsOfChange>>;
  sentBy: string;
  now: number;
};

/** The same rows for a taken number: its code is none, and counts for nobody else. */
function storeChange<Outcome extends string>(
  tx: Transaction<Outcome | 'sent' | 'taken', unknown>,
  isFree: SQL,
  { row, limits, sentBy, now }: NewChange,
): void {
  // No code matches the empty text.
  const mac = iif<string>(isFree, row.mac, '');
  tx.insert(['sent', 'taken'], phoneChanges, { ...row, mac });

  recordEvents(tx, ['sent', 'taken'], subjectsIn(limits.ofCaller), { now, by: sentBy });
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
  tx.insert(['sent', 'taken'], dailyCodes, today, { upsert: { target: [day], set } });
}

async function changeRow(
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
async function limitsOfChange(scope: ChangeScope, phone: PhoneNumber) {
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
