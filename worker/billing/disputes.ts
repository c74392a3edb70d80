import { eq } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import { customers, stripeEvents } from '#db/schema';
import type { EnvScope } from '../env.ts';
import type { Database } from '../lib/database.ts';
import { log } from '../lib/log.ts';
import { subscriptionPaidBy } from './invoices.ts';
import { unlessMissing, wholeList, withStripe } from './stripe-client.ts';
import { stripeEventsKeptMs } from './stripe-events.ts';
import { cancelNow, idOf, isLive } from './subscriptions.ts';
import { syncUser } from './sync.ts';
import type { StripeEvent } from './stripe-events.ts';
import { dayMs } from '../lib/time.ts';
import type { Scope } from '../request-scope.ts';

/** Stripe sends events for 3 days. */
const reviewedSeconds = (3 * dayMs) / 1000;

export function isDispute({ data: { object } }: StripeEvent): boolean {
  return object.object === 'dispute';
}

/** Null if the payment is not ours. */
export async function dealWithDispute(
  { db, settings }: Scope<'db' | 'settings'>,
  { data }: StripeEvent,
): Promise<string | null> {
  const id = String(data.object.id);
  return withStripe(settings, async (stripe) => {
    const dispute = await unlessMissing(stripe.disputes.retrieve(id, { expand: ['charge'] }));
    const customer = dispute && customerOfDispute(dispute);
    if (!customer || !(await userOf(db, customer))) return null;

    await endDisputed({ db, stripe, settings }, customer, dispute);
    return customer;
  });
}

export async function reviewDisputes(scope: EnvScope, now: number): Promise<void> {
  const { db, settings } = scope;
  const created = { gte: Math.floor(now / 1000) - reviewedSeconds };
  const list = (stripe: Stripe) =>
    stripe.disputes.list({
      created,
      limit: 100,
      expand: ['data.charge'],
    });

  const disputes = await withStripe(settings, (stripe) =>
    list(stripe).autoPagingToArray(wholeList),
  );

  for (const dispute of disputes) {
    const customer = customerOfDispute(dispute);
    const userId = customer && (await userOf(db, customer));
    if (!userId) continue;
    const ended = await withStripe(settings, (stripe) =>
      endDisputed({ db, stripe, settings }, customer, dispute),
    );
    if (ended) await syncUser(scope, userId);
  }
}

type DisputeScope = Scope<'db' | 'settings'> & { stripe: Stripe };

async function endDisputed(
  { db, stripe, settings }: DisputeScope,
  customer: string,
  dispute: Stripe.Dispute,
) {
  const id = await subscriptionPaidBy(stripe, idOf(dispute.payment_intent));
  const paidFor = id ? await unlessMissing(stripe.subscriptions.retrieve(id)) : null;

  const isMoneyKept = dispute.status === 'won' || isInquiry(dispute);
  const mustEnd = paidFor !== null && settings.require('ON_DISPUTE') === 'cancel' && !isMoneyKept;
  const ends = mustEnd && isLive(paidFor);
  if (ends) await cancelNow(stripe, paidFor);

  if (await isFirstReport(db, dispute)) {
    const { id, status } = dispute;
    const action = mustEnd
      ? 'The subscription was canceled.'
      : 'Answer the dispute in the Stripe dashboard.';
    log('error', 'payment_disputed', { customer, dispute: id, status, action });
  }

  return ends;
}

const isInquiry = ({ status }: Stripe.Dispute) => status.startsWith('warning_');

async function isFirstReport(db: Database, dispute: Stripe.Dispute): Promise<boolean> {
  const now = Date.now();
  if (dispute.created * 1000 < now - stripeEventsKeptMs) return false;
  const id = isInquiry(dispute) ? `${dispute.id}:inquiry` : dispute.id;
  const row = { id, type: 'payment_disputed', at: now };
  return (await db.insert(stripeEvents).values(row).onConflictDoNothing()).rowsAffected > 0;
}

function customerOfDispute({ charge }: Stripe.Dispute): string | null {
  return typeof charge === 'string' ? null : idOf(charge.customer);
}

async function userOf(db: Database, stripeId: string): Promise<string | null> {
  const [row] = await db
    .select({ userId: customers.userId })
    .from(customers)
    .where(eq(customers.stripeId, stripeId));
  return row?.userId ?? null;
}
