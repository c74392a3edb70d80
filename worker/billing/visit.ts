import { sql, type SQL } from 'drizzle-orm';
import type { Call } from '../http/call.ts';
import { release, type Leased } from './lease.ts';

const watchMs = 3_600_000;

/** Where the user is sent, and what that changes about the customer. */
export type Visit = { url: string; changes?: SQL };

/**
 * Runs work while a customer is leased and gives it back afterwards, whatever happens. A user who is sent to Stripe is
 * watched for a while: should Stripe's word get lost, the plan is looked up all the same.
 */
export async function giveBack(call: Call, leased: Leased, work: () => Promise<Visit>): Promise<Visit> {
  const { db, now, settings } = call;
  let visit: Visit | undefined;
  try {
    visit = await work();
    return visit;
  } finally {
    const away = visit && !visit.url.startsWith(settings.SITE_URL);
    const watch = db.run(sql`update users set billing_watch_until = ${now + watchMs} where id = ${leased.user.id}`);
    await db.batch([db.run(release(leased, visit?.changes)), ...(away ? [watch] : [])]);
  }
}
