import { and, eq, sql, type SQL } from 'drizzle-orm';
import { rateLimitEvents, users } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { allowedAt, insertEvents } from '../lib/rate-limits.ts';
import { hourMs } from '../lib/time.ts';

/**
 * A page makes several requests to Stripe, whose rate limit all users share.
 */
const limits = [{ most: 20, per: hourMs }];
export const billingPageSubject = (userId: string) => `billing-pages:${userId}`;
export const cancelReasonSubject = (userId: string) => `cancel-reasons:${userId}`;

/**
 * Statements that read from when (unix ms) a user may
 * open a billing page, and that count one if it is now.
 */
export function countBillingPage(
  db: Database,
  { userId, isLive }: { userId: string; isLive: SQL },
  now: number,
) {
  const subject = [billingPageSubject(userId)];
  const mayOpenAt = allowedAt([{ subject, limits }]);
  const allowed = sql`${mayOpenAt} <= ${now} and ${isLive}`;
  return {
    found: db.all<{ at: number }>(sql`select ${mayOpenAt} as at`),
    record: db.run(insertEvents(crypto.randomUUID(), now, [[[subject], allowed]])),
  };
}

/**
 * SQL: a cancellation of the user of `own` whose reason
 * was not counted; its end stands in the event's time.
 */
export function uncountedCancellation(userId: string, own: SQL): SQL {
  const counted = sql`select 1 from ${rateLimitEvents} where
    ${rateLimitEvents.subject} = ${cancelReasonSubject(userId)} and ${rateLimitEvents.at} = ${users.cancelAt}`;
  return sql`from ${users} where ${own} and ${users.cancelAt} is not null and not exists (${counted})`;
}

/** SQL that marks the reason of a cancellation as counted. */
export function markReasonCounted(userId: string, own: SQL): SQL {
  return sql`insert into ${rateLimitEvents} (subject, at, "by")
    select ${cancelReasonSubject(userId)}, ${users.cancelAt}, 'reason' from ${users}
    where ${own} and ${users.cancelAt} is not null on conflict do nothing`;
}

/**
 * A cancellation that was taken back is over:
 * the next one has a reason of its own.
 */
export function forgetReason(db: Database, userId: string, when: boolean) {
  const own = eq(rateLimitEvents.subject, cancelReasonSubject(userId));
  return db.delete(rateLimitEvents).where(and(own, when ? sql`true` : sql`false`));
}
