import { and, eq, gt, inArray, lt, type SQL } from 'drizzle-orm';
import type { Stripe } from 'stripe';
import { customers, type User } from '#db/schema';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { batch, type Database } from '../lib/database.ts';
import { describeError, log } from '../lib/log.ts';
import { minuteMs } from '../lib/time.ts';
import { sql } from '../lib/sql-text.ts';
import type { Settings } from '../settings.ts';
import { currentCount } from '../usage/week.ts';
import { endStreams, publish } from '../live/publish.ts';
import { profileOf } from '../usage/profile.ts';
import type { EnvScope } from '../env.ts';
import { ensureCustomer, renameCustomer, requireKnown } from './customer.ts';
import { customersPerRun, dueAfter, dueCustomersSql } from './sync-times.ts';
import { derive, plannedPrice } from './subscription-state.ts';
import {
  asOwed,
  awaitsPayment,
  collectAgain,
  isPaidUp,
  paidWeekOf,
  payRenewal,
  payWithNewCard,
  priceOfLine,
  settledInvoices,
} from './invoices.ts';
import {
  acquireLease,
  customersWhere,
  hold,
  type LeasedCustomer,
  type LeaseResult,
} from './lease.ts';
import { startPlanAfterTrial } from './plan-after-trial.ts';
import { saveState, type FetchedState } from './save-state.ts';
import { unlessMissing, withStripe } from './stripe-client.ts';
import { tierOfPrice, isCancelled, owes, subscriptionsOf } from './subscriptions.ts';

/** One of six connections is for other work. */
const atOnce = 5;
const chunk = 2 * atOnce;
const runMs = 45_000;
/** The pause after a Worker that was killed during a fetch. */
const stoppedMs = 10 * minuteMs;

/** Throws 503 if Stripe does not respond. */
export function sync(scope: EnvScope, leased: LeasedCustomer): Promise<User> {
  return hold(scope.db, leased, () => syncLeased(scope, leased));
}

export async function syncUser(scope: EnvScope, userId: string, condition?: SQL): Promise<void> {
  const token = crypto.randomUUID();
  const which = and(eq(customers.userId, userId), condition)!;
  const { acquired } = await batch(scope.db, acquireLease(scope.db, token, which));
  const [row] = acquired;
  if (row) await syncOrPostpone(scope, { token, ...row });
}

export async function reconcile(scope: EnvScope, now: number): Promise<void> {
  const until = Date.now() + runMs;
  for (let synced = 0; synced < customersPerRun && Date.now() < until;) {
    const leased = await acquireDue(scope.db, now);
    if (leased.length === 0) return;
    synced += leased.length;
    const work = async () => {
      for (let next = leased.shift(); next; next = leased.shift())
        await syncOrPostpone(scope, next);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
  }
}

async function acquireDue(db: Database, now: number): Promise<LeasedCustomer[]> {
  const run = crypto.randomUUID();
  const token = sql`${`${run}:`} || ${customers.userId}`;
  const due = inArray(customers.userId, sql`(${dueCustomersSql(now, chunk)})`);
  const { acquire } = acquireLease(db, run, due, {
    leaseToken: token,
    dueAt: Date.now() + stoppedMs,
  });
  const acquired = customersWhere(db, isTokenOf(run));
  const rows = await batch(db, { acquire, acquired });
  return rows.acquired.map((row) => ({
    ...row,
    token: row.customer.leaseToken!,
  }));
}

/** SQL: `;` follows `:` in ASCII. */
const isTokenOf = (run: string) =>
  and(gt(customers.leaseToken, `${run}:`), lt(customers.leaseToken, `${run};`))!;

export function logPostponed({ customer }: LeasedCustomer, error: unknown): void {
  log('error', 'sync_postponed', {
    failures: customer.failures + 1,
    ...describeError(error),
  });
}

async function syncOrPostpone(scope: EnvScope, leased: LeasedCustomer): Promise<void> {
  await sync(scope, leased).catch((error: unknown) => logPostponed(leased, error));
}

/** Fetches again while events arrive. */
export async function syncLeased(
  scope: EnvScope,
  leased: LeasedCustomer,
): Promise<LeaseResult<User>> {
  const { db, env, settings, waitUntil } = scope;
  const { customer, user } = leased;
  const { stripeId } = customer;
  if (!stripeId) return adoptCustomer(scope, leased);

  const fetched = await withStripe(settings, (stripe) =>
    fetchState(stripe, leased, stripeId, settings),
  );
  const after = await saveState({ db, settings }, leased, fetched).catch((error: unknown) => {
    // The write may have succeeded: streams reconnect and read the result.
    endStreams({ env, waitUntil }, user.id, null);
    throw error;
  });
  if (!after) return { result: user, released: true };

  if (fetched.offSaleTier || !sameForUser(user, after.user)) notify(scope, after.user);
  logOddities(stripeId, fetched);
  if (after.customer.dirty > customer.dirty)
    return syncLeased(scope, {
      ...leased,
      ...after,
    });
  return { result: after.user, released: true };
}

export function sameForUser(before: User, after: User, now = Date.now()): boolean {
  const visible = (user: User) => JSON.stringify([profileOf(user, now), currentCount(user, now)]);
  return visible(before) === visible(after);
}

async function adoptCustomer(
  { settings }: EnvScope,
  leased: LeasedCustomer,
): Promise<LeaseResult<User>> {
  const { customer, user } = leased;
  const stripeId = customer.stripeAsked
    ? await withStripe(settings, (stripe) => ensureCustomer(stripe, leased))
    : null;

  const dueAt = stripeId
    ? dueAfter({
        live: false,
        user,
        setupSession: null,
        renewalAt: null,
        awaitsPayment: false,
      })
    : null;

  return {
    result: user,
    changes: {
      synced: customer.dirty,
      stripeId,
      dueAt,
      failures: 0,
    },
  };
}

function logOddities(customer: string, { state }: FetchedState): void {
  if (state.doubled) {
    log('error', 'subscription_doubled', {
      customer,
      action: 'Cancel and refund one of them at Stripe.',
    });
  }
  if (state.unknownPrice) {
    const action = 'Set the metadata `tier` of the price at Stripe, or cancel the subscription.';
    log('error', 'price_unknown', {
      customer,
      price: state.unknownPrice,
      action,
    });
  }
}

function notify({ db, env, settings, waitUntil }: EnvScope, user: User): void {
  const total = {
    kind: 'total' as const,
    seq: user.usageSeq,
    ...currentCount(user, Date.now()),
  };
  waitUntil(publish(env, user.id, total, { kind: 'changed' }));
  waitUntil(deliverSoon(db, settings, user.id));
}

async function fetchState(
  stripe: Stripe,
  leased: LeasedCustomer,
  stripeId: string,
  settings: Settings,
): Promise<FetchedState> {
  const { user } = leased;
  const { session, offSaleTier } = await startPlanAfterTrial(stripe, leased, settings);

  const subscriptions = await payDebts(
    stripe,
    leased,
    await fetchAfterCollecting(stripe, leased, stripeId),
    stripeId,
  );
  await renameCustomer(stripe, leased, subscriptions);

  const invoices = await settledInvoicesOfUnpaid(stripe, subscriptions);
  const prices = await tiersOf(stripe, subscriptions, [...invoices.values()].flat());
  const paidWeeks = new Map([...invoices].map(([id, paid]) => [id, paidWeekOf(paid, prices)]));

  const known = {
    trialEndsAt: user.trialEndsAt,
    heldTier: user.tier,
    heldPause: user.collectionPause,
    heldWeek: user.weekFrozen ? user.weekAnchor : null,
    prices,
    paidWeeks,
  };

  const waits = subscriptions.some(awaitsPayment);
  return {
    state: derive(subscriptions, known),
    setupSession: session,
    offSaleTier,
    awaitsPayment: waits,
  };
}

/** Throws for an unknown customer, so that the plan stays. */
async function fetchSubscriptions(
  stripe: Stripe,
  { user, customer }: LeasedCustomer,
  stripeId: string,
) {
  const found = await subscriptionsOf(stripe, stripeId, user.id);
  if (found && (found.length > 0 || (user.tier === 'free' && !customer.hadSubscription))) {
    return Promise.all(found.map((each) => asOwed(stripe, each)));
  }
  await requireKnown(stripe, stripeId);
  return found ?? [];
}

async function fetchAfterCollecting(stripe: Stripe, leased: LeasedCustomer, stripeId: string) {
  const found = await fetchSubscriptions(stripe, leased, stripeId);
  let changed = false;
  for (const each of found) if (await collectAgain(stripe, each)) changed = true;
  return changed ? fetchSubscriptions(stripe, leased, stripeId) : found;
}

async function payDebts(
  stripe: Stripe,
  leased: LeasedCustomer,
  subscriptions: Stripe.Subscription[],
  stripeId: string,
): Promise<Stripe.Subscription[]> {
  const { attempt } = leased.customer;
  const isWatched = (leased.user.billingWatchUntil ?? 0) >= Date.now();
  const mayHaveNewCard = (each: Stripe.Subscription) =>
    isWatched && owes(each) && !isCancelled(each);

  let changed = false;
  for (const each of subscriptions) {
    const isPaid =
      (await payRenewal(stripe, each, attempt)) ||
      (mayHaveNewCard(each) && (await payWithNewCard(stripe, each, attempt)));
    if (isPaid) changed = true;
  }
  return changed ? fetchSubscriptions(stripe, leased, stripeId) : subscriptions;
}

async function settledInvoicesOfUnpaid(stripe: Stripe, subscriptions: Stripe.Subscription[]) {
  const invoices = new Map<string, Stripe.Invoice[]>();
  for (const subscription of subscriptions) {
    const { id, status } = subscription;
    if (status !== 'past_due' && (status !== 'active' || isPaidUp(subscription))) continue;
    invoices.set(id, await settledInvoices(stripe, subscription));
  }
  return invoices;
}

async function tiersOf(
  stripe: Stripe,
  subscriptions: Stripe.Subscription[],
  invoices: Stripe.Invoice[],
) {
  const items = subscriptions.flatMap(({ items: { data } }) => data);
  const prices = new Map(items.map(({ price }) => [price.id, tierOfPrice(price)]));
  const planned = subscriptions.map(plannedPrice);
  const charged = invoices.flatMap(({ lines }) => lines.data.map(priceOfLine));
  for (const id of new Set([...planned, ...charged])) {
    if (!id || prices.has(id)) continue;
    const price = await unlessMissing(stripe.prices.retrieve(id));
    prices.set(id, price && tierOfPrice(price));
  }
  return prices;
}
