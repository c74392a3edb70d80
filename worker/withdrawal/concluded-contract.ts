import type { Stripe } from 'stripe';
import { priceOfLine } from '../billing/invoices.ts';
import { requireOwner } from '../billing/foreign-customer.ts';
import { unlessMissing } from '../billing/stripe-client.ts';
import { idOf, isLive, tierOfPrice } from '../billing/subscriptions.ts';
import { paidPlanIds, plans, type PaidPlanId } from '../contract/plans.ts';
import { isPaidBack } from './credit-notes.ts';
import { billedTo, chargedLine, paymentsOf, type Payment } from './payments.ts';
import { withdrawableUntil } from './withdrawal-right.ts';
import { hasAskedToStart, type KeptChoice } from '../billing/start-choice.ts';

/** Unix ms, whole cents. */
export type ConcludedContract = {
  subscription: string;
  tier: PaidPlanId;
  concludedAt: number;
  until: number;
  startNow: boolean;
  currency: string;
  payments: Payment[];
};

export type Terms = {
  userId: string;
  days: number;
  choices: KeptChoice[];
  withdrawn: string[];
  /** The statement that was made already; `statedAt` in unix ms. */
  statement?: string;
  statedAt?: number;
};

/**
 * `at`: the time of the statement at Stripe (unix seconds), by which its
 * refund is computed. `isSubscribed`: a subscription is live all the same.
 * `isKnown`: Stripe has this customer.
 */
export type FoundContract =
  | { contract: ConcludedContract; at: number }
  | { contract: null; isSubscribed: boolean; isKnown: boolean };

/**
 * The customer's newest contract that could be withdrawn at the time of the
 * statement, by Stripe's clock, which bills. Renewals conclude no contract;
 * a purchase, a plan chosen during a trial and a move to a dearer plan do.
 */
export async function readContract(
  stripe: Stripe,
  customer: string,
  terms: Terms,
): Promise<FoundContract> {
  const { now, subscriptions, isKnown } = await subscriptionsNow(stripe, customer, terms.userId);
  const agoMs = terms.statedAt === undefined ? 0 : Date.now() - terms.statedAt;
  // Stripe's `Date` leaves out the part of a second.
  const latest = Math.floor((now + 999 - agoMs) / 1000);
  const at = Math.floor((now - agoMs) / 1000);

  for (const subscription of subscriptions.toSorted(newestFirst)) {
    if (terms.withdrawn.includes(subscription.id)) continue;
    if (subscription.status === 'incomplete_expired') continue;

    const contract = await contractOf(stripe, subscription, terms, at);
    if (!contract || contract.concludedAt > latest * 1000) continue;
    if (at * 1000 < contract.until) return { contract, at };
  }
  return {
    contract: null,
    isSubscribed: subscriptions.some(isLive),
    isKnown,
  };
}

function newestFirst(a: Stripe.Subscription, b: Stripe.Subscription): number {
  return Number(isLive(b)) - Number(isLive(a)) || b.created - a.created;
}

async function subscriptionsNow(stripe: Stripe, customer: string, userId: string) {
  const expand = ['data.customer'];
  const list = stripe.subscriptions.list({
    customer,
    status: 'all',
    limit: 100,
    expand,
  });
  const page = await unlessMissing(list);
  for (const subscription of page?.data ?? []) requireOwner(subscription.customer, userId);

  // With `fetch`, the SDK's response is the raw
  // one, whose headers are no plain object.
  const headers = new Headers(page?.lastResponse.headers);
  const date = Date.parse(headers.get('date') ?? '');
  return {
    now: Number.isNaN(date) ? Date.now() : date,
    subscriptions: page?.data ?? [],
    isKnown: page !== null,
  };
}

async function contractOf(
  stripe: Stripe,
  subscription: Stripe.Subscription,
  { days, choices, statement, statedAt }: Terms,
  at: number,
): Promise<ConcludedContract | null> {
  const payer = {
    subscription: subscription.id,
    customer: idOf(subscription.customer)!,
  };
  const billed = await billedTo(stripe, payer);
  if (await isPaidBack(stripe, billed.invoices, statement)) return null;

  const paid = billed.invoices.filter(({ status }) => status === 'paid');
  const tiers = await tiersOf(stripe, subscription, paid);
  const upgrade = paid.find((invoice) => isUpgrade(invoice, tiers));
  const first = upgrade ?? paid.findLast(chargedLine);
  // A smaller plan concluded no contract.
  const tier = (first && tierCharged(first, tiers)) ?? tierSold(subscription);
  if (!tier) return null;
  if (!upgrade && isOrderedAfter(statedAt, choices, tier)) return null;

  const concludedAt = (upgrade ?? subscription).created * 1000;
  const begins = (first && chargedLine(first)?.period.start) ?? Infinity;
  const startNow = hasAskedToStart(subscription, choices, { tier, begins });
  return {
    subscription: subscription.id,
    tier,
    concludedAt,
    until: withdrawableUntil(concludedAt, days),
    startNow,
    currency: subscription.currency,
    payments: paymentsOf(billed, { concludedAt, startNow }, at),
  };
}

function isOrderedAfter(
  statedAt: number | undefined,
  choices: KeptChoice[],
  tier: PaidPlanId,
): boolean {
  const orders = choices.filter((choice) => choice.tier === tier);
  return statedAt !== undefined && orders.length > 0 && orders.every(({ at }) => at > statedAt);
}

const creditedLine = ({ lines }: Stripe.Invoice) =>
  lines.data.find(
    ({ amount, parent }) => amount <= 0 && parent?.subscription_item_details?.proration,
  );

type Tiers = ReadonlyMap<string, PaidPlanId | null>;

async function tiersOf(
  stripe: Stripe,
  { items }: Stripe.Subscription,
  invoices: Stripe.Invoice[],
): Promise<Tiers> {
  const tiers = new Map(items.data.map(({ price }) => [price.id, tierOfPrice(price)]));
  const charged = invoices.flatMap(({ lines }) => lines.data.map(priceOfLine));

  for (const id of new Set(charged)) {
    if (!id || tiers.has(id)) continue;
    const price = await unlessMissing(stripe.prices.retrieve(id));
    tiers.set(id, price && tierOfPrice(price));
  }
  return tiers;
}

function isUpgrade(invoice: Stripe.Invoice, tiers: Tiers): boolean {
  if (invoice.billing_reason !== 'subscription_update') return false;

  const charged = tierCharged(invoice, tiers);
  const credited = tierOfLine(creditedLine(invoice), tiers);
  return charged !== null && credited !== null && plans[credited].level < plans[charged].level;
}

const tierCharged = (invoice: Stripe.Invoice, tiers: Tiers) =>
  tierOfLine(chargedLine(invoice), tiers);

function tierOfLine(line: Stripe.InvoiceLineItem | undefined, tiers: Tiers): PaidPlanId | null {
  const price = line && priceOfLine(line);
  return (price && tiers.get(price)) || null;
}

function tierSold({ items }: Stripe.Subscription): PaidPlanId | null {
  const sold = items.data.map(({ price }) => tierOfPrice(price));
  return paidPlanIds.findLast((id) => sold.includes(id)) ?? null;
}
