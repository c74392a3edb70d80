import { eq } from 'drizzle-orm';
import { users } from '#db/schema';
import type { Database } from '../lib/database.ts';
import type { Settings } from '../settings.ts';
import type { Changes, LeasedCustomer } from './leased-customer.ts';
import { afterFailure, release } from './release-lease.ts';
import { hourMs } from '../lib/time.ts';

const watchMs = hourMs;

/** The page for the user, and the changes of the customer. */
export type Destination = { url: string; changes?: Changes };

/**
 * Runs work with a leased customer and releases it, also after a failure. If the user is sent to Stripe's pages,
 * the cron job fetches the state every minute for an hour, in case the webhooks are lost.
 */
export async function withLease(
  { db, now, settings }: { db: Database; now: number; settings: Settings },
  leased: LeasedCustomer,
  work: () => Promise<Destination>,
): Promise<Destination> {
  const destination = await work().catch(async (error: unknown) => {
    // The cron job finds a customer if the response with its id was lost.
    await release(db, leased, { ...afterFailure(error), dueAt: now });
    throw error;
  });
  if (destination.url.startsWith(settings.SITE_URL)) {
    await release(db, leased, destination.changes);
    return destination;
  }
  const watch = { billingWatchUntil: now + watchMs };
  await db.batch([
    release(db, leased, { dueAt: now, ...destination.changes }),
    db.update(users).set(watch).where(eq(users.id, leased.user.id)),
  ]);
  return destination;
}
