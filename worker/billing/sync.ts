import { sql } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../contract/plans.ts';
import type { Database } from '../db.ts';
import type { Env } from '../env.ts';
import { log } from '../log.ts';
import { deliverSoon } from '../messaging/deliver-outbox.ts';
import type { Settings } from '../settings.ts';
import { currentCount, type User } from '../usage/profile.ts';
import { publish } from '../usage/publish.ts';
import { derive, plannedPrice, type Standing } from './derive.ts';
import { ensureCustomer } from './ensure-customer.ts';
import { keepStanding, sameStanding } from './keep-standing.ts';
import { release, type Leased } from './lease.ts';
import { unlessMissing, withStripe } from './stripe.ts';
import { tierOfPrice } from './tier-of-price.ts';
import { fulfilTrialPlan } from './trial-plan.ts';

export type Billing = { db: Database; env: Env; settings: Settings; later: (work: Promise<unknown>) => void };

type Seen = { standing: Standing; setupSession: string | null };

/**
 * Brings the user of a leased customer in line with Stripe, looks again while new reasons come in, and gives the
 * customer back. Answers the user as it stands; 503 when Stripe does not answer.
 */
export async function sync(billing: Billing, leased: Leased): Promise<User> {
  try {
    return await untilClean(billing, leased);
  } catch (error) {
    await billing.db.run(release(leased)).catch(() => undefined);
    throw error;
  }
}

async function untilClean(billing: Billing, leased: Leased): Promise<User> {
  const { db, settings } = billing;
  const { customer, user } = leased;
  if (!customer.stripeId) {
    const id = customer.stripeAsked ? await withStripe(settings, (stripe) => ensureCustomer(stripe, leased)) : null;
    await db.run(release(leased, sql`, synced = dirty, stripe_id = ${id}`));
    return user;
  }
  const { standing, setupSession } = await withStripe(settings, (stripe) => look(stripe, leased));
  const after = await keepStanding(db, leased, standing, setupSession).catch((error: unknown) => {
    // Nobody knows what was kept: streams that begin again read it.
    billing.later(publish(billing.env, user.id, { kind: 'end', sessionId: null }));
    throw error;
  });
  if (!after) return user;
  if (!sameStanding(user, after.user)) announce(billing, after.user);
  if (standing.doubled) log('error', 'subscription_doubled', { customer: customer.stripeId });
  return after.customer.dirty > customer.dirty ? untilClean(billing, { ...leased, ...after }) : after.user;
}

async function look(stripe: Stripe, leased: Leased): Promise<Seen> {
  const { customer, user } = leased;
  const setupSession = customer.setupSession ? await fulfilTrialPlan(stripe, leased, customer.setupSession) : null;
  const subscriptions = await subscriptionsOf(stripe, customer.stripeId!);
  const planned = await tiersOf(stripe, subscriptions);
  return { standing: derive(subscriptions, { trialEndsAt: user.trialEndsAt, planned }), setupSession };
}

/** Every subscription that a customer ever had, with its schedule. */
export async function subscriptionsOf(stripe: Stripe, customer: string): Promise<Stripe.Subscription[]> {
  const list = stripe.subscriptions.list({ customer, status: 'all', limit: 100, expand: ['data.schedule'] });
  return (await unlessMissing(list.autoPagingToArray({ limit: 1000 }))) ?? [];
}

async function tiersOf(stripe: Stripe, subscriptions: Stripe.Subscription[]): Promise<Map<string, PaidPlanId | null>> {
  const ids = new Set(subscriptions.flatMap((one) => plannedPrice(one) ?? []));
  const pairs = [...ids].map(async (id) => [id, tierOfPrice(await stripe.prices.retrieve(id))] as const);
  return new Map(await Promise.all(pairs));
}

function announce({ db, env, settings, later }: Billing, user: User): void {
  const total = { kind: 'total' as const, seq: user.usageSeq, ...currentCount(user, Date.now()) };
  later(publish(env, user.id, total, { kind: 'changed' }));
  later(deliverSoon(db, settings, user.phone));
}
