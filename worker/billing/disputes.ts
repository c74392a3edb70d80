import { eq } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import { customers } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import type { Settings } from '../settings.ts';
import { syncUser } from './reconcile.ts';
import { unlessMissing, withStripe } from './stripe-client.ts';
import { cancelNow, idOf, isLive, subscriptionsOf } from './subscriptions.ts';
import type { Billing } from './sync.ts';
import type { StripeEvent } from './stripe-events.ts';
import { dayMs } from '../lib/time.ts';

/** Stripe sends events for 3 days; the hourly review covers them when none arrives. */
const reviewedSeconds = (3 * dayMs) / 1000;

type Parts = { db: Database; settings: Settings };

export function isDispute({ data: { object } }: StripeEvent): boolean {
  return object.object === 'dispute';
}

/** Handles the dispute of an event and returns its customer; null if the payment is not ours. */
export async function dealWithDispute({ db, settings }: Parts, { data }: StripeEvent): Promise<string | null> {
  const id = String(data.object.id);
  return withStripe(settings, async (stripe) => {
    const dispute = await unlessMissing(stripe.disputes.retrieve(id, { expand: ['charge'] }));
    const customer = dispute && customerOfDispute(dispute);
    if (!customer || !(await userOf(db, customer))) return null;
    const ended = await endDisputed(stripe, settings, customer, dispute);
    const action = ended ? 'The subscription was canceled.' : 'Answer the dispute in the Stripe dashboard.';
    log('error', 'payment_disputed', { customer, dispute: id, status: dispute.status, action });
    return customer;
  });
}

/** Handles recent disputes whose events were lost. */
export async function reviewDisputes(billing: Billing, now: number): Promise<void> {
  const { db, settings } = billing;
  const created = { gte: Math.floor(now / 1000) - reviewedSeconds };
  const list = (stripe: Stripe) => stripe.disputes.list({ created, limit: 100, expand: ['data.charge'] });
  const disputes = await withStripe(settings, (stripe) => list(stripe).autoPagingToArray({ limit: 1000 }));
  for (const dispute of disputes) {
    const customer = customerOfDispute(dispute);
    const userId = customer && (await userOf(db, customer));
    if (!userId) continue;
    const ended = await withStripe(settings, (stripe) => endDisputed(stripe, settings, customer, dispute));
    if (!ended) continue;
    log('error', 'payment_disputed', { customer, dispute: dispute.id, action: 'The subscription was canceled.' });
    await syncUser(billing, userId);
  }
}

/** Ends the subscriptions that began before the dispute; later purchases stay. */
async function endDisputed(stripe: Stripe, { ON_DISPUTE }: Settings, customer: string, dispute: Stripe.Dispute) {
  // An inquiry takes no money back, and a dispute that was won gives it back.
  const isMoneyKept = dispute.status === 'won' || dispute.status.startsWith('warning_');
  if (ON_DISPUTE === 'keep' || isMoneyKept) return false;
  const all = (await subscriptionsOf(stripe, customer)) ?? [];
  const disputed = all.filter((each) => isLive(each) && each.created <= dispute.created);
  for (const subscription of disputed) await cancelNow(stripe, subscription);
  return disputed.length > 0;
}

/** A dispute names its charge, and the charge its customer. */
function customerOfDispute({ charge }: Stripe.Dispute): string | null {
  return typeof charge === 'string' ? null : idOf(charge.customer);
}

async function userOf(db: Database, stripeId: string): Promise<string | null> {
  const [row] = await db.select({ userId: customers.userId }).from(customers).where(eq(customers.stripeId, stripeId));
  return row?.userId ?? null;
}
