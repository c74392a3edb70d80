import { and, eq, gt, not } from 'drizzle-orm';
import { phoneChanges, type User } from '#db/schema';
import type { PhoneNumber } from '../identity/phone.ts';
import type { Authorized } from '../identity/user-session.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { minus, rowExists, valueOf } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { isIn } from '../lib/sql.ts';
import { type ChangeScope, isFresh } from './begin-phone-change.ts';
import { movePhone } from './move-phone.ts';
import { boundRowsOf } from './move-rows.ts';

type Attempt = {
  phone: PhoneNumber;
  code: string;
  challenge: string;
};

/**
 * A wrong code uses one of its tries. The right one is used up, and a second transaction
 * then moves the account (`moveInDatabase`). A parallel call, or one after a response lost in between, finds
 * the code `spent`; once the account has moved, `unknown`.
 *
 * Throws 401, 403, 409 if the number is taken by now, or 503. Whatever the move
 * throws, the code is used up.
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
      isFresh: isFresh(scope),
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
          const isAllowed = and(rowExists(phoneChanges, own), isFresh(scope))!;
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
