import { eq, isNull } from 'drizzle-orm';
import { type dailyTotals, users } from '#db/schema';
import type { Authorized, UserSession } from '../identity/user-session.ts';
import { countOnDay } from '../lib/daily-totals.ts';
import { isTrue } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import type { On, Transaction } from '../lib/transaction.ts';

type Reason = (typeof dailyTotals.$inferInsert)['detail'];

/**
 * Counts why somebody has cancelled. The first condition that holds decides:
 *
 * | outcome            | condition                   | response | rows                       |
 * | ------------------ | --------------------------- | -------- | -------------------------- |
 * | `nothingCancelled` | no cancellation is in force | 409      | none                       |
 * | `counted`          | it was counted              | 200      | none                       |
 * | `first`            | none of these               | 200      | `daily_totals`;            |
 * |                    |                             |          | `users.reason_counted_for` |
 *
 * Of parallel calls one is `first`.
 */
export function countReason<T>(
  session: UserSession,
  { reason, now }: { reason: Reason; now: number },
  respond: () => T,
): Promise<Authorized<T>> {
  const own = eq(users.id, session.tokenUserId);

  return session.decide({
    facts: {
      cancelAt: users.cancelAt.getSQL(),
      isCounted: isTrue(eq(users.reasonCountedFor, users.cancelAt)),
    },

    outcomes: ({ cancelAt, isCounted }) => ({
      nothingCancelled: isNull(cancelAt),
      counted: isCounted,
    }),
    otherwise: 'first',

    effects: (tx) => {
      countOnDay(tx, ['first'], { kind: 'cancel_reason', detail: reason }, now);
      tx.update(['first'], users, { reasonCountedFor: users.cancelAt.getSQL() }, own);
    },

    respond: ({ outcome }) => {
      if (outcome !== 'nothingCancelled') return respond();
      throw new RequestError('conflict', { message: 'Nothing is cancelled.' });
    },
  });
}

export function forgetReason<Outcome extends string>(
  tx: Transaction<Outcome, unknown>,
  on: On<Outcome>,
  userId: string,
): void {
  tx.update(on, users, { reasonCountedFor: null }, eq(users.id, userId));
}
