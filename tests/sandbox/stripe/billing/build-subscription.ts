import type { Stripe } from 'stripe';
import { listOf } from '../api/page.ts';
import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import { newMetadata } from '../objects/metadata.ts';
import { ownMethod } from '../objects/payment-methods.ts';
import { isTaxed } from './is-taxed.ts';
import { newItems } from './new-items.ts';
import type { Customer } from '../types/customers.ts';
import type { MissingMethod, Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

type Params = Stripe.SubscriptionCreateParams;

const untouched = {
  application: null,
  application_fee_percent: null,
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
  managed_payments: { enabled: false },
  next_pending_invoice_item_invoice: null,
  on_behalf_of: null,
  pending_invoice_item_interval: null,
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
  const items = newItems(world, id, params, trialEnd);
  const method = params.default_payment_method
    ? ownMethod(world, customer.id, params.default_payment_method, 'default_payment_method')
    : null;
  const isFlexible = params.billing_mode?.type !== 'classic';
  return {
    ...untouched,
    id,
    object: 'subscription',
    automatic_tax: automaticTax(customer, params),
    billing_cycle_anchor: trialEnd ?? now,
    billing_mode: isFlexible
      ? {
          type: 'flexible',
          flexible: { proration_discounts: params.billing_mode?.flexible?.proration_discounts ?? 'included' },
          updated_at: now,
        }
      : { type: 'classic', flexible: null, updated_at: now },
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
    pending_setup_intent: null,
    schedule: null,
    start_date: now,
    status: trialEnd === null ? 'incomplete' : 'trialing',
    trial_start: trialEnd === null ? null : now,
    trial_end: trialEnd,
    trial_settings: trialSettingsOf(params),
    _: { pending: [], isTrialEndAnnounced: false, billed: {}, lastFinalized: null },
  };
}

function automaticTax({ address }: Customer, params: Params): Subscription['automatic_tax'] {
  if (!isTaxed(params)) return { disabled_reason: null, enabled: false, liability: null };
  if (address) return { disabled_reason: null, enabled: true, liability: { type: 'self' } };
  throw invalid(
    "The customer's location isn't recognized. Set a valid customer address in order to automatically calculate tax.",
    undefined,
    'customer_tax_location_invalid',
  );
}

function trialSettingsOf({ trial_settings: settings }: Params): Subscription['trial_settings'] {
  const missing = (settings?.end_behavior.missing_payment_method ?? 'create_invoice') as MissingMethod;
  return { end_behavior: { billing_cycle_anchor: 'now', missing_payment_method: missing } };
}
