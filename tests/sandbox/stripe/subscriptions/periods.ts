import type { Stripe } from 'stripe';
import { requireTax } from '../account.ts';
import { invalid, notFound } from '../api/errors.ts';
import { day, addInterval } from '../clock.ts';
import { newSetupIntent } from '../payments/intents.ts';
import { refuseIncomplete } from '../payments/charges.ts';
import { collectInvoice, defaultMethod, requireMethod } from '../invoices/collect-invoice.ts';
import { invoiceSubscription } from '../invoices/invoices.ts';
import { periodLine, trialLine } from '../invoices/lines.ts';
import type { Customer, Period, Price, Subscription, SubscriptionItem } from '../objects.ts';
import { given, type World, newMetadata } from '../world.ts';
import { listOf, newId, newObject } from '../table.ts';
import { needsAuthentication, ownMethod } from '../payments/payment-methods.ts';
import { recurringPrice, planOf } from '../catalogue.ts';
import { endSubscription } from './subscriptions.ts';

type Params = Stripe.SubscriptionCreateParams;
/** `isAuthenticated`: the cardholder has authenticated the first payment; `mustPay`: it succeeds, or nothing begins. */
type Manner = { isAuthenticated?: boolean; mustPay?: boolean };

/**
 * Starts a subscription with its trial or first invoice. If the first charge fails, it is incomplete, or this throws.
 */
export function createSubscription(
  world: World,
  params: Params,
  manner: Manner = {},
): Subscription {
  const customer = subscriber(world, params.customer ?? '');
  const trialEnd = trialEndOf(world, params);
  const draft = buildSubscription(world, customer, params, trialEnd);
  if (trialEnd === null) requireMethod(world, draft);
  const { id } = world.subscriptions.insert(draft);
  world.customers.change(
    customer.id,
    (customer) => void (customer.currency ??= draft.currency),
    null,
  );
  if (trialEnd === null)
    payFirst(world, draft, {
      ...manner,
      mustPay: params.payment_behavior === 'error_if_incomplete',
    });
  else startTrial(world, draft, trialEnd);
  return world.subscriptions.get(id);
}

/** Recorded: an unknown customer is a 404 here, and a 400 in most other calls. */
function subscriber(world: World, id: string): Customer {
  const customer = world.customers.find(id);
  if (!customer || customer.deleted) throw notFound('customer', id, 'customer');
  return customer;
}

function trialEndOf(
  world: World,
  { trial_end: end, trial_period_days: days }: Params,
): number | null {
  if (end !== undefined && days !== undefined)
    throw invalid('You cannot set both `trial_end` and `trial_period_days`.', 'trial_end');
  if (days !== undefined) return world.now() + days * day;
  if (end === undefined || end === 'now') return null;
  if (end <= world.now())
    throw invalid(
      'Invalid timestamp: must be an integer Unix timestamp in the future.',
      'trial_end',
    );
  return end;
}

function payFirst(
  world: World,
  subscription: Subscription,
  { mustPay, isAuthenticated }: Manner,
): void {
  const lines = subscription.items.data.map((item) =>
    periodLine(world, subscription, item, {
      start: item.current_period_start,
      end: item.current_period_end,
    }),
  );
  const reason = 'subscription_create';
  const invoice = invoiceSubscription(world, subscription.id, {
    reason,
    lines,
    collect: 'none',
  });
  if (world.invoices.get(invoice).status === 'paid') return;
  const outcome = collectInvoice(world, invoice, { isAuthenticated });
  if (mustPay) refuseIncomplete(outcome);
}

function startTrial(world: World, subscription: Subscription, end: number): void {
  const period = { start: world.now(), end };
  const lines = subscription.items.data.map((item) => trialLine(world, subscription, item, period));
  invoiceSubscription(world, subscription.id, {
    reason: 'subscription_create',
    lines,
  });
  askForMethod(world, subscription);
}

/** For a trial without a saved card, Stripe creates a setup intent to save one. */
function askForMethod(world: World, subscription: Subscription): void {
  const method = defaultMethod(world, subscription);
  if (method && !needsAuthentication(method)) return;
  const { id } = newSetupIntent(world, {
    customer: subscription.customer,
    subscription: subscription.id,
  });
  world.subscriptions.change(subscription.id, { pending_setup_intent: id }, null);
}

function buildSubscription(
  world: World,
  customer: Customer,
  params: Params,
  trialEnd: number | null,
): Subscription {
  const now = world.now();
  const id = newId('sub_1');
  const items = newItems(world, id, params, trialEnd);
  const { default_payment_method: method } = params;
  if (method) ownMethod(world, customer.id, method, 'default_payment_method');
  if (params.automatic_tax?.enabled)
    requireTax(
      world,
      items.map(({ price }) => price),
    );
  return newObject<Subscription>({
    id,
    object: 'subscription',
    automatic_tax: automaticTax(customer, params),
    billing_cycle_anchor: trialEnd ?? now,
    billing_mode: {
      type: 'flexible',
      flexible: { proration_discounts: 'included' },
      updated_at: now,
    },
    created: now,
    currency: items[0]?.price.currency ?? 'usd',
    customer: customer.id,
    ...given(params, 'default_payment_method', 'description'),
    items: listOf(items, `/v1/subscription_items?subscription=${id}`),
    metadata: newMetadata(params.metadata),
    start_date: now,
    status: trialEnd === null ? 'incomplete' : 'trialing',
    trial_start: trialEnd === null ? null : now,
    trial_end: trialEnd,
    trial_settings: {
      end_behavior: {
        billing_cycle_anchor: 'now',
        missing_payment_method:
          params.trial_settings?.end_behavior.missing_payment_method ?? 'create_invoice',
      },
    },
    _: { pending: [], billed: {}, lastFinalized: null },
  });
}

function automaticTax({ address }: Customer, params: Params): Subscription['automatic_tax'] {
  if (!params.automatic_tax?.enabled)
    return {
      disabled_reason: null,
      enabled: false,
      liability: null,
    };
  if (address)
    return {
      disabled_reason: null,
      enabled: true,
      liability: { type: 'self' },
    };
  throw invalid(
    "The customer's location isn't recognized. Set a valid customer address in order to automatically calculate tax.",
    undefined,
    'customer_tax_location_invalid',
  );
}

/** The items of a new subscription; their first period ends with its trial, if it has one. */
function newItems(
  world: World,
  subscription: string,
  { items = [] }: Params,
  trialEnd: number | null,
) {
  if (items.length === 0)
    throw invalid('Missing required param: items.', 'items', 'parameter_missing');
  const prices = items.map(({ price }) => price);
  const twice = prices.find((price, index) => prices.indexOf(price) !== index);
  if (twice) {
    throw invalid(
      `Cannot create a Subscription with multiple Subscription Items with the same Price: ${twice}`,
      'plan',
    );
  }
  const start = world.now();
  return items.map(({ price: id = '', quantity = 1 }, index) => {
    const price = recurringPrice(world, id, `items[${index}][price]`);
    const period =
      trialEnd === null
        ? periodFrom(start, price)
        : {
            start,
            end: trialEnd,
          };
    return newSubscriptionItem({
      subscription,
      price,
      quantity,
      period,
      created: start,
    });
  });
}

type NewItem = {
  subscription: string;
  price: Price;
  quantity?: number;
  period: Period;
  created: number;
};

export function newSubscriptionItem({
  price,
  period,
  quantity = 1,
  ...item
}: NewItem): SubscriptionItem {
  return newObject<SubscriptionItem>({
    id: newId('si_', 14),
    object: 'subscription_item',
    billed_until: period.end,
    current_period_start: period.start,
    current_period_end: period.end,
    plan: planOf(price),
    price,
    quantity,
    ...item,
  });
}

/** The period of a price from `start` on. */
export function periodFrom(start: number, { recurring }: Price): Period {
  return {
    start,
    end: addInterval(start, recurring.interval, recurring.interval_count),
  };
}

export function movePeriod(item: SubscriptionItem, { start, end }: Period): void {
  Object.assign(item, {
    current_period_start: start,
    current_period_end: end,
    billed_until: end,
  });
}

type Renewal = {
  /** When the periods begin; without it, where the present ones end. */
  at?: number;
  changes?: Partial<Subscription>;
  collect?: 'after-draft' | 'now';
};

/** Starts a new period. Its invoice is charged an hour later; that of an unpaid subscription stays a draft. */
export function renewSubscription(world: World, id: string, renewal: Renewal = {}): void {
  const { at, changes, collect = 'after-draft' } = renewal;
  const before = world.subscriptions.get(id);
  const nextOf = (item: SubscriptionItem) => periodFrom(at ?? item.current_period_end, item.price);
  invoiceSubscription(world, id, {
    reason: 'subscription_cycle',
    lines: before.items.data.map((item) => periodLine(world, before, item, nextOf(item))),
    collect,
    edit(subscription) {
      Object.assign(subscription, changes);
      for (const item of subscription.items.data) movePeriod(item, nextOf(item));
    },
  });
}

/**
 * Starts the first paid period, or ends a trial without a card as its settings say. With `isRequested`, a call of the
 * API ends the trial: it is charged at once, and throws without a card.
 */
export function endTrial(world: World, id: string, at: number, { isRequested = false } = {}): void {
  const subscription = world.subscriptions.get(id);
  const missing = subscription.trial_settings.end_behavior.missing_payment_method;
  if (missing !== 'create_invoice' && !defaultMethod(world, subscription)) {
    if (missing === 'cancel') endSubscription(world, id);
    else pauseSubscription(world, id);
    return;
  }
  if (isRequested) requireMethod(world, subscription);
  const changes = {
    status: 'active',
    billing_cycle_anchor: at,
    trial_end: at,
    pending_setup_intent: null,
  } as const;
  renewSubscription(world, id, {
    at,
    changes,
    collect: isRequested ? 'now' : 'after-draft',
  });
}

function pauseSubscription(world: World, id: string): void {
  const type = 'trial_end_without_payment_method';
  const paused = {
    type: 'subscription',
    transitioned_at: world.now(),
    subscription: { type },
  };
  const subscription = world.subscriptions.change(id, (subscription) => {
    subscription.status = 'paused';
    subscription.status_details = { paused };
  });
  world.emit('customer.subscription.paused', subscription);
}
