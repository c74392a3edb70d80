import { sql } from 'drizzle-orm';
import { takeCustomer, type Leased } from '../billing/lease.ts';
import { sync } from '../billing/sync.ts';
import { customerOf, verifyEvent } from '../billing/webhook-event.ts';
import type { Call, Handler } from '../http/call.ts';
import { surpriseOf } from '../http/failure.ts';
import { log } from '../log.ts';

/**
 * An event only says that there is something to see: it is remembered, its customer marked, and the state fetched.
 * What cannot be fetched now stays marked for the cron, so the answer is 200 as soon as the mark is kept.
 */
export const stripeWebhook: Handler<'stripeWebhook'> = async (call) => {
  const event = await verifyEvent(call.settings, call.request, call.rawBody);
  const customer = customerOf(event);
  const expected = /^(sk|rk)_live_/.test(call.settings.STRIPE_SECRET_KEY);
  if (!customer || event.livemode !== expected) return { received: true };
  const leased = await remember(call, event, customer);
  if (leased) {
    await sync(call, leased).catch((error: unknown) => log('error', 'sync_postponed', surpriseOf(error)));
  }
  return { received: true };
};

/** Keeps the event and marks its customer, and takes it unless another holder will see the mark. */
async function remember(
  { db, now }: Call<'stripeWebhook'>,
  event: { id: string; type: string },
  stripeId: string,
): Promise<Leased | null> {
  const token = crypto.randomUUID();
  const known = sql`exists (select 1 from customers where stripe_id = ${stripeId})`;
  const first = sql`exists (select 1 from stripe_events where id = ${event.id} and by = ${token})`;
  const [, , , [row]] = await db.batch([
    db.run(sql`insert into stripe_events (id, type, by, at)
      select ${event.id}, ${event.type}, ${token}, ${now} where ${known} on conflict do nothing`),
    db.run(sql`update customers set dirty = dirty + 1 where stripe_id = ${stripeId} and ${first}`),
    ...takeCustomer(db, token, sql`stripe_id = ${stripeId} and dirty > synced`),
  ]);
  return row ? { token, ...row } : null;
}
