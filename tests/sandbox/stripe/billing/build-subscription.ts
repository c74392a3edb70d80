import type { Stripe } from 'stripe';
import { listOf } from '../api/page.ts';
import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import type { Customer } from '../objects/customers.ts';
import { newMetadata } from '../objects/metadata.ts';
import { recurringPrice } from '../objects/recurring-price.ts';
import { newSubscriptionItem } from '../objects/subscription-items.ts';
import type { MissingMethod, Subscription } from '../objects/subscriptions.ts';
import type { World } from '../world.ts';
import { periodFrom } from './renew-subscription.ts';

type Params = Stripe.SubscriptionCreateParams;

const untouched = {
  application: null,
  application_fee_percent: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  billing_cycle_anchor_config: null,
  billing_schedules: [],
  billing_thresholds: null,
  collection_method: 'charge_automatically',
  customer_account: null,
  days_until_due: null,
  default_source: null,
  default_tax_rates: [],
  discounts: [],
  invoice_settings: {
    account_tax_ids: null,
    custom_fields: null,
    description: null,
    footer: null,
    issuer: { type: 'self' },
  },
  livemode: false,
  managed_payments: null,
  next_pending_invoice_item_invoice: null,
  on_behalf_of: null,
  pending_invoice_item_interval: null,
  pending_setup_intent: null,
  pending_update: null,
  test_clock: null,
  transfer_data: null,
};

export function buildSubscription(
  world: World,
  customer: Customer,
  params: Params,
  trialEnd: number | null,
): Subscription {
  const now = world.now();
  const id = newId('sub_1');
  const items = itemsOf(world, id, params, trialEnd);
  const method = params.default_payment_method
    ? world.paymentMethods.get(params.default_payment_method, 'default_payment_method')
    : null;
  if (method && method.customer !== customer.id)
    throw invalid('The payment method must be attached to the customer.', 'default_payment_method');
  const isFlexible = params.billing_mode?.type !== 'classic';
  return {
    ...untouched,
    id,
    object: 'subscription',
    billing_cycle_anchor: trialEnd ?? now,
    billing_mode: isFlexible
      ? {
          type: 'flexible',
          flexible: { proration_discounts: params.billing_mode?.flexible?.proration_discounts ?? 'included' },
        }
      : { type: 'classic', flexible: null },
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    created: now,
    currency: items[0]?.price.currency ?? 'usd',
    customer: customer.id,
    default_payment_method: method?.id ?? null,
    description: params.description ?? null,
    ended_at: null,
    items: listOf(items, `/v1/subscription_items?subscription=${id}`),
    latest_invoice: null,
    metadata: newMetadata(params.metadata),
    pause_collection: null,
    payment_settings: { payment_method_options: null, payment_method_types: null, save_default_payment_method: 'off' },
    schedule: null,
    start_date: now,
    status: trialEnd === null ? 'incomplete' : 'trialing',
    trial_start: trialEnd === null ? null : now,
    trial_end: trialEnd,
    trial_settings: trialSettingsOf(params),
    _: { pending: [], trialEndTold: false },
  };
}

function itemsOf(world: World, subscription: string, params: Params, trialEnd: number | null) {
  const wanted = params.items ?? [];
  if (wanted.length === 0) throw invalid('Missing required param: items.', 'items', 'parameter_missing');
  const items = wanted.map(({ price: id, quantity = 1, metadata }, index) => {
    const price = recurringPrice(world, id ?? '', `items[${index}][price]`);
    const period = { start: world.now(), end: trialEnd ?? 0 };
    return newSubscriptionItem({
      subscription,
      price,
      quantity,
      metadata: newMetadata(metadata),
      period,
      created: world.now(),
    });
  });
  if (trialEnd !== null) return items;
  return items.map((item) => {
    const { end } = periodFrom(world.now(), item);
    return { ...item, current_period_end: end, billed_until: end };
  });
}

function trialSettingsOf({ trial_settings: settings }: Params): Subscription['trial_settings'] {
  const missing = (settings?.end_behavior.missing_payment_method ?? 'create_invoice') as MissingMethod;
  return { end_behavior: { billing_cycle_anchor: null, missing_payment_method: missing } };
}
