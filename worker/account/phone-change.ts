import { and, eq, gt, gte, isNotNull, isNull, ne, not, sql } from 'drizzle-orm';
import { dailyCodes, phoneChanges, rateLimitEvents, sessions, type User } from '#db/schema';
import type { Language } from '../contract/languages.ts';
import { userOf } from '../identity/identity.ts';
import { phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import type { Authorized, UserSession } from '../identity/user-session.ts';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { iif, minus, plus, rowExists, valueOf } from '../lib/expressions.ts';
import { allowedAt, recordEvents, subjectsIn, type Limited } from '../lib/rate-limits.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { excluded, isIn } from '../lib/sql.ts';
import { minuteMs } from '../lib/time.ts';
import { sendCode } from '../messaging/whatsapp.ts';
import { codeDay, reportCodeBudget, sentToday, untilNextBudget } from '../sign-in/code-budget.ts';
import { limitsOf } from '../sign-in/code-limits.ts';
import { newChallenge, newCode } from '../sign-in/code-secrets.ts';
import { orTakenBack } from '../sign-in/sent-codes.ts';
import { boundRowsOf } from './move-number.ts';
import { movePhone, type Background } from './move-phone.ts';

export const phoneChangeSubject = (userId: string) => `phone-changes:${userId}`;

const freshForMs = 10 * minuteMs;

type Call = Background & { session: UserSession; address: string; language: Language; now: number };
type NewNumber = { phone: PhoneNumber; phoneAsSent: string };

/** SQL: whether a code or an external token has opened the session within the last ten minutes. */
function isFresh({ session, now }: Call) {
  const { id, userId, createdAt, isLimited } = sessions;
  const own = and(eq(id, session.sessionId), eq(userId, session.userId));
  return rowExists(sessions, and(own, gt(createdAt, now - freshForMs), eq(isLimited, false)));
}

/**
 * Sends a code to the wanted number. A taken one gets none, but the
 * same statements write as many rows. Throws 401, 403, 429 or 503.
 */
export async function beginPhoneChange(call: Call, wanted: NewNumber): Promise<Authorized<string>> {
  const { session, settings, now, waitUntil } = call;
  const [challenge, code, sentBy] = [newChallenge(), newCode(), crypto.randomUUID()];
  const row = await changeRow(call, wanted, { challenge, code });
  const limits = await limitsOfChange(call, wanted.phone);

  const decided = session.decide(
    {
      facts: {
        isFresh: isFresh(call),
        mayBeginAt: allowedAt([...limits.ofUser, ...limits.ofNumber]),
        sent: sentToday(now),
        owner: userOf('phone', wanted.phone),
      },
      outcomes: (facts) => ({
        signInNeeded: not(facts.isFresh),
        limited: gt(facts.mayBeginAt, now),
        budgetSpent: gte(facts.sent, settings.CODE_BUDGET_PER_DAY),
        taken: isNotNull(facts.owner),
      }),
      otherwise: 'sent',
    },
    (tx) => {
      const isFree = isNull(tx.fact('owner'));
      // No code matches the empty text.
      const mac = iif<string>(isFree, row.mac, '');
      tx.insert(['sent', 'taken'], phoneChanges, { ...row, mac });

      recordEvents(tx, ['sent', 'taken'], subjectsIn(limits.ofUser), { now, by: sentBy });
      const subjects = iif(isFree, JSON.stringify(limits.sentTo), JSON.stringify(limits.unsentTo));
      const event = { subject: sql`name.value`, at: now, by: sentBy };
      const from = sql`json_each(${subjects}) as name`;
      tx.insert(['sent', 'taken'], rateLimitEvents, event, { from });

      const { day, sent } = dailyCodes;
      const set = { sent: plus(sent, excluded(sent)) };
      const today = { day: codeDay(now), sent: isFree };
      tx.insert(['sent', 'taken'], dailyCodes, today, { upsert: { target: [day], set } });
    },
    ({ outcome, facts }) => {
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
          reportCodeBudget(facts.sent + 1, settings.CODE_BUDGET_PER_DAY);
          // A code that WhatsApp refuses counts too, as one for a taken number does.
          waitUntil(sendCode(call, row.whatsappId, { code, sentBy }));
          return challenge;
      }
    },
  );
  const { ofUser, ofNumber } = limits;
  const subjects = subjectsIn([...ofUser, ...ofNumber]).flat();
  return orTakenBack(call, decided, () => forgetChange(call, row.id, { sentBy, subjects }));
}

/** Removes a change, with what was counted for it. */
async function forgetChange(
  { db, now }: Call,
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

async function changeRow(
  { session, settings, now }: Call,
  { phone, phoneAsSent }: NewNumber,
  { challenge, code }: { challenge: string; code: string },
) {
  const { claimedUserId: userId } = session;
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
    expiresAt: now + settings.CODE_LIFETIME_SECONDS * 1000,
    triesLeft: settings.CODE_TRIES,
  };
}

/**
 * Codes that a taken number did not get are counted under other names,
 * so that nobody keeps its owner from signing in; they limit as the others do.
 */
async function limitsOfChange(call: Call, phone: PhoneNumber) {
  const { session, settings } = call;
  const { codesTo, codesFrom } = await limitsOf(call, phone);
  const unsent = (names: string[]) => names.map((name) => `unsent-${name}`);
  const { everyCodeTo, codesTo: codesToNumber } = await phoneSubjects(settings, phone);

  const ofUser: Limited = {
    subject: [phoneChangeSubject(session.claimedUserId)],
    limits: settings.LIMIT_CODES_PER_NUMBER,
  };
  return {
    ofUser: [ofUser, ...codesFrom],
    ofNumber: codesTo.map(({ subject, limits }) => ({
      subject: [...subject, ...unsent(subject)],
      limits,
    })),
    sentTo: subjectsIn(codesTo).map(([name]) => name),
    unsentTo: [unsent(everyCodeTo), unsent(codesToNumber)].map(([name]) => name),
  };
}

type Attempt = { phone: PhoneNumber; code: string; challenge: string };

/**
 * Moves the account to the number and ends every other session. A right code is used
 * up first, since the move may need several tries. Throws 401, 403, or 409 if the
 * number is taken.
 */
export async function verifyPhoneChange(
  call: Call,
  { phone, code, challenge }: Attempt,
): Promise<Authorized<User>> {
  const { db, session, settings, now } = call;
  const { claimedUserId: userId, sessionId } = session;
  const ofChange = [settings.CODE_PEPPER, 'phone-change', userId, phone] as const;
  const [ids, macs] = await Promise.all([
    keyedHashes(...ofChange, challenge),
    keyedHashes(...ofChange, 'code', code),
  ]);
  const { expiresAt, triesLeft, mac, whatsappId } = phoneChanges;
  const own = and(isIn(phoneChanges.id, ids), eq(phoneChanges.userId, userId));
  const live = and(own, gt(expiresAt, now), gt(triesLeft, 0));

  return session.decide(
    {
      facts: {
        isFresh: isFresh(call),
        whatsappId: valueOf(whatsappId, live),
        isRight: rowExists(phoneChanges, and(live, isIn(mac, macs))),
      },
      outcomes: (facts) => ({
        signInNeeded: not(facts.isFresh),
        unknown: isNull(facts.whatsappId),
        wrong: not(facts.isRight),
      }),
      otherwise: 'right',
    },
    (tx) => {
      tx.update(['wrong'], phoneChanges, { triesLeft: minus(triesLeft, 1) }, live);
      tx.update(['right'], phoneChanges, { triesLeft: 0 }, live);
    },
    ({ outcome, user, facts, reads }) => {
      switch (outcome) {
        case 'signInNeeded':
          throw new RequestError('signInNeeded');
        case 'unknown':
        case 'wrong':
          throw new RequestError('invalidCode');
        case 'right': {
          // Another change that was first has removed this one.
          const isAllowed = and(rowExists(phoneChanges, own), isFresh(call))!;
          const to = { phone, whatsappId: facts.whatsappId!, sessionId };
          return movePhone(call, user, { ...to, isAllowed, bound: reads.bound });
        }
      }
    },
    { bound: boundRowsOf(db, userId) },
  );
}
