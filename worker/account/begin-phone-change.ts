import { and, eq, gt, gte, isNotNull, isNull, not } from 'drizzle-orm';
import { sessions } from '#db/schema';
import { userOfSql } from '../identity/aliases.ts';
import type { Authorized } from '../identity/user-session.ts';
import { rowExists } from '../lib/expressions.ts';
import { allowedAtSql, subjectsIn } from '../lib/rate-limits.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { minuteMs } from '../lib/time.ts';
import { sendCode } from '../messaging/whatsapp.ts';
import { reportCodeBudget, sentTodaySql, untilNextBudget } from '../sign-in/code-budget.ts';
import { newChallenge, newCode } from '../sign-in/code-secrets.ts';
import { orUndone } from '../sign-in/stored-codes.ts';
import {
  changeRow,
  limitsOfChange,
  storeChange,
  undoChange,
  type ChangeScope,
  type NewNumber,
} from './stored-change.ts';

const freshForMs = 10 * minuteMs;

export function isFreshSql({ session, now }: ChangeScope) {
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
 * |                | network (of IPv6) or the       |           |                                 |
 * |                | number had too many codes      |           |                                 |
 * | `budgetSpent`  | the codes of today reach their | 503       | none                            |
 * |                | budget                         |           |                                 |
 * | `taken`        | the number has a user, perhaps | challenge | as `sent`, but an empty `mac`,  |
 * |                | the caller                     |           | the events of the number as     |
 * |                |                                |           | `unsent-…`, and 0 more in       |
 * |                |                                |           | `daily_codes`                   |
 * | `sent`         | none of these                  | challenge | `phone_changes`; `daily_codes`  |
 * |                |                                |           | + 1; `rate_limit_events` of     |
 * |                |                                |           | user, address, network (of      |
 * |                |                                |           | IPv6), and two of the number    |
 *
 * `taken` must not show, so it writes as many rows as `sent`. The code is sent after the response;
 * it counts even if WhatsApp refuses it, and its status adds a row of `code_messages` without a
 * number. By `LIMIT_CODES_PER_NUMBER` (1 in 30 s) one of parallel calls of a user, or for a
 * number, passes. So the same call within 30 s is `limited`; later it sends another code, and the
 * earlier ones stay live. If the response of the database is lost, `undoChange` takes the rows
 * back, and the call fails with 503.
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
      isFresh: isFreshSql(scope),
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
  return orUndone(scope, decided, () =>
    undoChange(scope, row.id, {
      sentBy,
      subjects,
    }),
  );
}
