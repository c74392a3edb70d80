import { and, eq, gt, gte, isNull, lte, not, or, sql, type SQL } from 'drizzle-orm';
import { codes, linkCodes, users } from '#db/schema';
import { spellingOf, userOf } from '../identity/identity.ts';
import { ownSpelling, type PhoneNumber } from '../identity/phone.ts';
import type { Language } from '../contract/languages.ts';
import { keyedHash } from '../lib/crypto.ts';
import { coalesce, columnFact, iif, oneRow, rowExists } from '../lib/expressions.ts';
import { allowedAt, recordEvents, subjectsIn } from '../lib/rate-limits.ts';
import { transaction } from '../lib/transaction.ts';
import type { Scope } from '../request-scope.ts';
import { provenForMs, reportCodeBudget, sentToday, untilNextBudget } from './code-budget.ts';
import { limitsOf } from './code-limits.ts';
import { linkCodeLifetimeMs, newChallenge, newLinkCode } from './code-secrets.ts';
import { codeRow, codesOf, insertCode, orTakenBack, removeCode } from './stored-codes.ts';

/** The facts of a sign-in request; `now` in unix ms. */
export type SignInCall = Scope<'address' | 'db' | 'settings' | 'now'> & {
  /** From `deviceOf`, of whoever signs in. */
  device?: string | null;
};

type Asked = { phone: PhoneNumber; phoneAsSent: string };

export type Issued =
  | {
      kind: 'issued';
      id: string;
      subjects: string[];
      challenge: string;
      whatsappId: string;
      nextAfterSeconds: number;
    }
  /** `linkCode` proves a message from WhatsApp to be of the caller's. */
  | { kind: 'unknownNumber'; linkCode: string }
  /** `until` in unix ms; no link code for an address with too many. */
  | { kind: 'limited'; until: number; linkCode: string | undefined }
  | { kind: 'budgetSpent'; retryAfter: number };

/** Makes `code` the newest one of its number, and that of a new challenge. */
export async function issueCode(
  call: SignInCall & { language: Language; waitUntil: (work: Promise<unknown>) => void },
  asked: Asked,
  code: string,
): Promise<Issued> {
  const { db, settings, now } = call;
  const { phone } = asked;
  const [challenge, linkCode, id] = [newChallenge(), newLinkCode(), crypto.randomUUID()];
  const [limits, row, link, challengeHash] = await Promise.all([
    limitsOf(call, phone),
    codeRow(settings, { phone, code, sentBy: id, now }),
    linkRow(call, asked, linkCode),
    keyedHash(settings.CODE_PEPPER[0]!, 'challenge', phone, challenge),
  ]);
  const counted = subjectsIn([...limits.codesTo, ...limits.codesFrom]);
  const ofNumber = [...limits.codesTo, ...limits.wrongTries];

  const tx = transaction(db, {
    from: oneRow([users, eq(users.id, userOf('phone', phone))]),
    facts: {
      askAt: allowedAt(limits.requests),
      linkAt: allowedAt(limits.links),
      numberAt: allowedAt(ofNumber),
      addressAt: allowedAt(limits.codesFrom),
      contactedAt: columnFact<number | null>(users.contactedAt),
      isProven: gt(coalesce(users.lastContactAt, 0), now - provenForMs),
      sent: sentToday(now),
      whatsappId: spellingOf(users.id.getSQL()),
    },
    outcomes: (facts) => outcomesOf(facts, call),
    otherwise: 'issued',
  });

  // A request that issues a code counts only as a code. A number that has just written passes the limit
  // of requests, so what is above it is not counted further.
  recordEvents(tx, ['unknownNumber', 'tooManyCodes', 'budgetSpent'], subjectsIn(limits.requests), {
    now,
    where: lte(tx.fact('askAt'), now),
  });
  const isAbove = gt(tx.fact('askAt'), now);
  const mayLink = lte(tx.fact('linkAt'), now);
  recordEvents(tx, ['tooManyRequests', 'tooManyCodes'], subjectsIn(limits.links), {
    now,
    where: and(isAbove, mayLink)!,
  });
  tx.insert(['unknownNumber', 'tooManyRequests', 'tooManyCodes'], linkCodes, link, {
    where: or(not(isAbove), mayLink),
  });
  insertCode(tx, ['issued'], row, challengeHash);
  recordEvents(tx, ['issued'], counted, { now, by: id });
  const stored = tx.run({
    next: db.all<{ at: number }>(sql`select ${allowedAt(ofNumber)} as at`),
  });
  const takeBack = () => withdrawCode(call, phone, id);
  const { outcome, facts, reads } = await orTakenBack(call, stored, takeBack);

  const known = facts.askAt <= now || facts.linkAt <= now ? linkCode : undefined;

  switch (outcome) {
    case 'tooManyRequests':
      return {
        kind: 'limited',
        until: facts.askAt,
        linkCode: known,
      };
    case 'unknownNumber':
      return { kind: 'unknownNumber', linkCode };
    case 'tooManyCodes': {
      const until = Math.max(facts.numberAt, facts.isProven ? 0 : facts.addressAt);
      return { kind: 'limited', until, linkCode: known };
    }
    case 'budgetSpent':
      return { kind: 'budgetSpent', retryAfter: untilNextBudget(now) };
    case 'issued': {
      reportCodeBudget(facts.sent + 1, settings.require('CODE_BUDGET_PER_DAY'));
      const nextAfterSeconds = Math.max(1, Math.ceil((reads.next[0]!.at - now) / 1000));
      const whatsappId = ownSpelling(phone, facts.whatsappId);
      const subjects = counted.map(([name]) => name!);
      return {
        kind: 'issued',
        id,
        subjects,
        challenge,
        whatsappId,
        nextAfterSeconds,
      };
    }
  }
}

type Facts = Record<'askAt' | 'numberAt' | 'addressAt' | 'contactedAt' | 'isProven' | 'sent', SQL>;

/** Whoever has just written passes what strangers could have used up. */
function outcomesOf(facts: Facts, { settings, now }: SignInCall) {
  const { askAt, numberAt, addressAt, contactedAt, isProven, sent } = facts;
  const budget = settings.require('CODE_BUDGET_PER_DAY');
  return {
    tooManyRequests: and(gt(askAt, now), not(isProven)),
    unknownNumber: isNull(contactedAt),
    tooManyCodes: or(gt(numberAt, now), and(gt(addressAt, now), not(isProven))),
    budgetSpent: gte(sent, iif(isProven, 2 * budget, budget)),
  };
}

/** Its challenge is that of the code that it brings. */
async function linkRow(
  { settings, language, now }: Pick<SignInCall, 'settings' | 'now'> & { language: Language },
  { phone, phoneAsSent }: Asked,
  linkCode: string,
) {
  const [pepper] = settings.CODE_PEPPER as [string];
  return {
    mac: await keyedHash(pepper, 'link-code', linkCode),
    phone,
    whatsappId: phoneAsSent.slice(1),
    challengeId: await keyedHash(pepper, 'challenge', phone, linkCode),
    language,
    expiresAt: now + linkCodeLifetimeMs,
  };
}

/** A code that WhatsApp has refused counts for nothing. */
export async function withdrawCode(
  call: SignInCall,
  phone: PhoneNumber,
  id: string,
): Promise<void> {
  const { db, now } = call;
  const { codesTo, codesFrom } = await limitsOf(call, phone);
  const subjects = subjectsIn([...codesTo, ...codesFrom]).flat();

  const tx = transaction(db, {
    facts: { isStored: rowExists(codes, codesOf(phone, id)) },
    outcomes: ({ isStored }) => ({ gone: not(isStored) }),
    otherwise: 'removed',
  });
  removeCode(tx, ['removed'], { phone, sentBy: id, now, subjects });
  await tx.run();
}
