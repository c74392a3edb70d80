import type { Database } from '../lib/database.ts';
import type { Env } from '../env.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { log } from '../lib/log.ts';
import type { Settings } from '../settings.ts';
import type { User } from '#db/schema';
import { currentCount } from '../usage/week.ts';
import { endStreams, publish } from '../live/publish.ts';
import { ensureCustomer } from './customer.ts';
import { dueAfter } from './due.ts';
import { fetchState, type FetchedState } from './fetch-state.ts';
import type { LeasedCustomer } from './leased-customer.ts';
import { afterFailedFetch, release } from './release-lease.ts';
import { saveState, sameForUser } from './save-state.ts';
import { withStripe } from './stripe-client.ts';

export type Billing = { db: Database; env: Env; settings: Settings; waitUntil: (work: Promise<unknown>) => void };

/**
 * Updates the user of a leased customer from Stripe, again while events arrive, and releases the lease. Returns the
 * updated user; throws 503 if Stripe does not respond.
 */
export async function sync(billing: Billing, leased: LeasedCustomer): Promise<User> {
  try {
    return await untilClean(billing, leased);
  } catch (error) {
    const changes = afterFailedFetch(error, leased.customer);
    await release(billing.db, leased, changes).catch(() => undefined);
    throw error;
  }
}

async function untilClean(billing: Billing, leased: LeasedCustomer): Promise<User> {
  const { db, env, settings, waitUntil } = billing;
  const { customer, user } = leased;
  const { stripeId } = customer;
  if (!stripeId) return adoptCustomer(billing, leased);
  const fetched = await withStripe(settings, (stripe) => fetchState(stripe, leased, stripeId, settings));
  const after = await saveState(db, settings, leased, fetched).catch((error: unknown) => {
    // The write may have succeeded: streams reconnect and read the result.
    endStreams({ env, waitUntil }, user.id, null);
    throw error;
  });
  if (!after) return user;
  if (fetched.offSaleTier || !sameForUser(user, after.user)) notify(billing, after.user);
  logOddities(stripeId, fetched);
  return after.customer.dirty > customer.dirty ? untilClean(billing, { ...leased, ...after }) : after.user;
}

/** Finds the customer whose id was lost with Stripe's response. */
async function adoptCustomer({ db, settings }: Billing, leased: LeasedCustomer): Promise<User> {
  const { customer, user } = leased;
  const stripeId = customer.stripeAsked ? await withStripe(settings, (stripe) => ensureCustomer(stripe, leased)) : null;
  const dueAt = stripeId ? dueAfter({ live: false, user, setupSession: null }) : null;
  await release(db, leased, { synced: customer.dirty, stripeId, dueAt, failures: 0 });
  return user;
}

function logOddities(customer: string, { state }: FetchedState): void {
  if (state.doubled) {
    log('error', 'subscription_doubled', { customer, action: 'Cancel and refund one of them at Stripe.' });
  }
  if (state.unknownPrice) {
    const action = 'Set the metadata `tier` of the price at Stripe, or cancel the subscription.';
    log('error', 'price_unknown', { customer, price: state.unknownPrice, action });
  }
}

function notify({ db, env, settings, waitUntil }: Billing, user: User): void {
  const total = { kind: 'total' as const, seq: user.usageSeq, ...currentCount(user, Date.now()) };
  waitUntil(publish(env, user.id, total, { kind: 'changed' }));
  waitUntil(deliverSoon(db, settings, user.phone));
}
