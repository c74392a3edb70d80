import { and, eq, gt, not } from 'drizzle-orm';
import { phoneChanges, type User } from '#db/schema';
import type { PhoneNumber } from '../identity/phone.ts';
import type { Authorized } from '../identity/user-session.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { minus, rowExists, valueOf } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { isIn } from '../lib/sql.ts';
import { isFreshSql } from './begin-phone-change.ts';
import { movePhone } from './move-phone.ts';
import { boundRowsOf } from './moving-account.ts';
import type { ChangeScope } from './stored-change.ts';

type Attempt = {
  phone: PhoneNumber;
  code: string;
  challenge: string;
};

/**
 * Moves the account to the number whose code is right. The first condition that holds decides:
 *
 * | outcome        | condition                  | response           | rows                       |
 * | -------------- | -------------------------- | ------------------ | -------------------------- |
 * | `signInNeeded` | the session is limited, or | 403                | none                       |
 * |                | over ten minutes old       |                    |                            |
 * | `unknown`      | the account has no change  | 401 `invalid_code` | none                       |
 * |                | to this number with this   |                    |                            |
 * |                | challenge                  |                    |                            |
 * | `spent`        | its time or its tries are  | 401 `code_spent`   | none                       |
 * |                | used up                    |                    |                            |
 * | `wrong`        | the code is another one    | 401 `invalid_code` | `phone_changes.tries_left` |
 * |                |                            |                    | − 1                        |
 * | `right`        | none of these              | as `movePhone`     | `phone_changes.tries_left` |
 * |                |                            |                    | = 0                        |
 *
 * After `right` further transactions move the account (`moveInDatabase`). Whatever the move
 * throws (401, 409 or 503), the code is used up. A parallel call, or a repetition after the
 * response of the first transaction was lost, is `spent`; once the account has moved, `unknown`.
 */
export async function verifyPhoneChange(
  scope: ChangeScope,
  { phone, code, challenge }: Attempt,
): Promise<Authorized<User>> {
  const { db, session, settings, now } = scope;
  const { tokenUserId: userId, sessionId } = session;
  const ofChange = [settings.CODE_PEPPER, 'phone-change', userId, phone] as const;
  const [ids, macs] = await Promise.all([
    keyedHashes(...ofChange, challenge),
    keyedHashes(...ofChange, 'code', code),
  ]);

  const { expiresAt, triesLeft, mac, whatsappId } = phoneChanges;
  const own = and(isIn(phoneChanges.id, ids), eq(phoneChanges.userId, userId));
  const live = and(own, gt(expiresAt, now), gt(triesLeft, 0));

  return session.decide({
    facts: {
      isFresh: isFreshSql(scope),
      isKnown: rowExists(phoneChanges, own),
      isLive: rowExists(phoneChanges, live),
      whatsappId: valueOf(whatsappId, live),
      isRight: rowExists(phoneChanges, and(live, isIn(mac, macs))),
    },

    outcomes: (facts) => ({
      signInNeeded: not(facts.isFresh),
      unknown: not(facts.isKnown),
      spent: not(facts.isLive),
      wrong: not(facts.isRight),
    }),
    otherwise: 'right',

    effects: (tx) => {
      tx.update(['wrong'], phoneChanges, { triesLeft: minus(triesLeft, 1) }, live);
      tx.update(['right'], phoneChanges, { triesLeft: 0 }, live);
    },
    reads: { bound: boundRowsOf(db, userId) },

    respond: ({ outcome, user, facts, reads }) => {
      switch (outcome) {
        case 'signInNeeded':
          throw new RequestError('signInNeeded');
        case 'spent':
          throw new RequestError('codeSpent');
        case 'unknown':
        case 'wrong':
          throw new RequestError('invalidCode');
        case 'right': {
          // Not if another change of the account was first: it removes all of them.
          const isAllowed = and(rowExists(phoneChanges, own), isFreshSql(scope))!;
          const to = {
            phone,
            whatsappId: facts.whatsappId!,
            by: 'code' as const,
            keeps: sessionId,
            isAllowed,
          };
          return movePhone(scope, { user, bound: reads.bound }, to);
        }
      }
    },
  });
}
