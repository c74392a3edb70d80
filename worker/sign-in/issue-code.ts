import { and, eq, gt, gte, isNull, not, or, type SQL } from 'drizzle-orm';
import { codes, linkCodes, users } from '#db/schema';
import { spellingOfSql, userOfSql } from '../identity/aliases.ts';
import { ownSpelling, type PhoneNumber } from '../identity/phone.ts';
import type { Language } from '../contract/languages.ts';
import { keyedHash } from '../lib/crypto.ts';
import { coalesce, columnFact, iif, oneRow, rowExists } from '../lib/expressions.ts';
import {
  allowedAtSql,
  type Limited,
  recordEventsByOutcome,
  subjectsIn,
} from '../lib/rate-limits.ts';
import { transaction } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import type { Scope, SessionScope } from '../request-scope.ts';
import { justWrittenMs, reportCodeBudget, sentTodaySql, untilNextBudget } from './code-budget.ts';
import type { StoredCode } from './code-delivery.ts';
import { limitsOf } from './code-limits.ts';
import { linkCodeLifetimeMs, newChallenge, newLinkCode } from './code-secrets.ts';
import { codeRow, codesOfSql, insertCode, orUndone, undoCodeRows } from './stored-codes.ts';

export type SignInScope = SessionScope & Scope<'address'>;

type AskedNumber = { phone: PhoneNumber; phoneAsSent: string };

export type Issued =
  | {
      kind: 'issued';
      message: StoredCode;
      challenge: string;
      nextAfterSeconds: number;
    }
  | { kind: 'unknownNumber'; linkCode: string }
  /** `until` in unix ms. */
  | { kind: 'limited'; until: number; linkCode: string | undefined }
  | { kind: 'budgetSpent'; retryAfter: number };

type IssueScope = SignInScope & Scope<'language' | 'waitUntil'>;

/**
 * Makes `code` the newest one of its number, and that of a new challenge. If it is refused, the
 * number may bring its code by a message with the link code. The first condition that holds
 * decides:
 *
 * | outcome            | condition                         | result          | rows               |
 * | ------------------ | --------------------------------- | --------------- | ------------------ |
 * | `tooManyLinks`     | `tooManyRequests`, and too many   | `limited`       | none               |
 * |                    | link codes shown                  |                 |                    |
 * | `tooManyRequests`  | the address, or of IPv6 its       | `limited`       | link code          |
 * |                    | network, has asked too often      |                 |                    |
 * | `unknownNumber`    | the number has not written yet    | `unknownNumber` | link code; request |
 * | `tooManyCodes`     | the number, the address or its    | `limited`       | link code; request |
 * |                    | network got too many; or too many |                 |                    |
 * |                    | wrong ones were tried for the     |                 |                    |
 * |                    | number                            |                 |                    |
 * | `budgetSpentAbove` | `budgetSpent`, and the address    | `budgetSpent`   | none               |
 * |                    | has asked too often               |                 |                    |
 * | `budgetSpent`      | the codes of today reach their    | `budgetSpent`   | request            |
 * |                    | budget                            |                 |                    |
 * | `issued`           | none of these                     | `issued`        | code               |
 *
 * - link code: a row of `link_codes`. `tooManyRequests` also writes an event for it
 * - request: an event
 * - code: two rows of `codes`, of which the newest one of the number replaces the one before; one
 *   more in `daily_codes`; an event, and two of the number
 *
 * An event is a row of `rate_limit_events` for the address, and of IPv6 one for its network. A
 * number that has just written (`justWrittenMs`) passes the limits of both, and has twice the
 * budget.
 *
 * `endpoints/auth.ts` sends the code, and writes `code_messages`. If WhatsApp refuses it, or the
 * response of the database is lost, `undoCode` deletes the rows of the code; the one before stays
 * replaced. If it may arrive (503), it stays good. If a status says later that the message failed,
 * the code ends, and its events and its place in the day are given back (`code-delivery.ts`).
 *
 * By `LIMIT_CODES_PER_NUMBER` (1 in 30 s) one of parallel calls for a number is `issued`, and the
 * others are `tooManyCodes`; so is the same call within that time.
 */
export async function issueCode(
  scope: IssueScope,
  asked: AskedNumber,
  code: string,
): Promise<Issued> {
  const { db, settings, now } = scope;
  const { phone } = asked;
  const limits = await limitsOf(scope, phone);
  const ofNumber = [...limits.codesTo, ...limits.wrongTries];
  const tx = decideIssue(scope, phone, { ...limits, ofNumber });

  const [challenge, linkCode] = [newChallenge(), newLinkCode()];
  const [row, link, challengeHash] = await Promise.all([
    codeRow(settings, { phone, code, sentBy: tx.id, now }),
    linkRow(scope, asked, linkCode),
    keyedHash(settings.CODE_PEPPER[0]!, 'challenge', phone, challenge),
  ]);

  const requests = subjectsIn(limits.requests);
  const counted = subjectsIn([...limits.codesTo, ...limits.codesFrom]);
  recordEventsByOutcome(tx, now, {
    tooManyRequests: subjectsIn(limits.links),
    unknownNumber: requests,
    tooManyCodes: requests,
    budgetSpent: requests,
    issued: counted,
  });

  tx.insert(['tooManyRequests', 'unknownNumber', 'tooManyCodes'], linkCodes, link);
  insertCode(tx, ['issued'], row, challengeHash);
  const stored = tx.run({
    next: db.all<{ at: number }>(sql`select ${allowedAtSql(ofNumber)} as at`),
  });

  const undo = () => undoCode(scope, phone, tx.id);
  const { outcome, facts, reads } = await orUndone(scope, stored, undo);

  const limited = (ofAddress: number, shownCode?: string): Issued => {
    const until = facts.hasJustWritten ? facts.numberAt : ofAddress;
    return {
      kind: 'limited',
      until,
      linkCode: shownCode,
    };
  };

  switch (outcome) {
    case 'tooManyLinks':
      return limited(facts.askAt);
    case 'tooManyRequests':
      return limited(facts.askAt, linkCode);
    case 'unknownNumber':
      return { kind: 'unknownNumber', linkCode };
    case 'tooManyCodes':
      return limited(Math.max(facts.numberAt, facts.addressAt), linkCode);
    case 'budgetSpent':
    case 'budgetSpentAbove':
      return { kind: 'budgetSpent', retryAfter: untilNextBudget(now) };
    case 'issued': {
      reportCodeBudget(facts.codesToday + 1, settings.require('CODE_BUDGET_PER_DAY'));
      const to = ownSpelling(phone, facts.whatsappId);
      return {
        kind: 'issued',
        message: { phone, to, code, sentBy: tx.id, counted },
        challenge,
        nextAfterSeconds: Math.max(1, Math.ceil((reads.next[0]!.at - now) / 1000)),
      };
    }
  }
}

type Limits = Record<'requests' | 'links' | 'ofNumber' | 'codesFrom', Limited[]>;

function decideIssue(scope: SignInScope, phone: PhoneNumber, limits: Limits) {
  const { db, now } = scope;
  return transaction(db, {
    from: oneRow([users, eq(users.id, userOfSql('phone', phone))]),
    facts: {
      askAt: allowedAtSql(limits.requests),
      linkAt: allowedAtSql(limits.links),
      numberAt: allowedAtSql(limits.ofNumber),
      addressAt: allowedAtSql(limits.codesFrom),
      contactedAt: columnFact<number | null>(users.contactedAt),
      hasJustWritten: gt(coalesce(users.lastContactAt, 0), now - justWrittenMs),
      codesToday: sentTodaySql(now),
      whatsappId: spellingOfSql(users.id.getSQL()),
    },

    outcomes: (facts) => outcomesOf(facts, scope),
    otherwise: 'issued',
  });
}

type IssueFacts = Record<
  'askAt' | 'linkAt' | 'numberAt' | 'addressAt' | 'contactedAt' | 'hasJustWritten' | 'codesToday',
  SQL
>;

/** Somebody who has just written passes the limits that strangers could have used up. */
function outcomesOf(facts: IssueFacts, { settings, now }: SignInScope) {
  const { askAt, linkAt, numberAt, addressAt, contactedAt, hasJustWritten, codesToday } = facts;
  const isAbove = gt(askAt, now);
  const hasTooMany = or(gt(numberAt, now), and(gt(addressAt, now), not(hasJustWritten)));
  const isRefused = and(isAbove, or(hasTooMany, not(hasJustWritten)));
  const budget = settings.require('CODE_BUDGET_PER_DAY');
  const isSpent = gte(codesToday, iif(hasJustWritten, 2 * budget, budget));

  return {
    tooManyLinks: and(isRefused, gt(linkAt, now)),
    tooManyRequests: isRefused,
    unknownNumber: isNull(contactedAt),
    tooManyCodes: hasTooMany,
    budgetSpentAbove: and(isSpent, isAbove),
    budgetSpent: isSpent,
  };
}

/** Its challenge is that of the code that it brings. */
async function linkRow(
  { settings, language, now }: Pick<SignInScope, 'settings' | 'now'> & { language: Language },
  { phone, phoneAsSent }: AskedNumber,
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

/** `gone` (the rows are not there) writes nothing; `removed` deletes those of `issued`. */
export async function undoCode(scope: SignInScope, phone: PhoneNumber, id: string): Promise<void> {
  const { db, now } = scope;
  const { codesTo, codesFrom } = await limitsOf(scope, phone);
  const subjects = subjectsIn([...codesTo, ...codesFrom]).flat();

  const tx = transaction(db, {
    facts: { isStored: rowExists(codes, codesOfSql(phone, id)) },
    outcomes: ({ isStored }) => ({ gone: not(isStored) }),
    otherwise: 'removed',
  });
  undoCodeRows(tx, ['removed'], { phone, sentBy: id, now, subjects });
  await tx.run();
}
