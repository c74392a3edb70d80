import { listOf } from '../api/page.ts';
import { newId } from '../ids.ts';
import type { BillingReason, Invoice } from '../objects/invoices.ts';
import type { Subscription } from '../objects/subscriptions.ts';
import type { World } from '../world.ts';
import type { Line } from './lines.ts';

const untouched = {
  account_country: 'US',
  account_tax_ids: null,
  amount_overpaid: 0,
  amount_shipping: 0,
  application: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
  automatically_finalizes_at: null,
  collection_method: 'charge_automatically',
  custom_fields: null,
  customer_account: null,
  customer_shipping: null,
  customer_tax_exempt: 'none',
  customer_tax_ids: [],
  default_payment_method: null,
  default_source: null,
  default_tax_rates: [],
  description: null,
  discounts: [],
  due_date: null,
  footer: null,
  from_invoice: null,
  invoice_pdf: null,
  issuer: { type: 'self' },
  last_finalization_error: null,
  latest_revision: null,
  livemode: false,
  on_behalf_of: null,
  payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
  post_payment_credit_notes_amount: 0,
  pre_payment_credit_notes_amount: 0,
  receipt_number: null,
  rendering: null,
  shipping_cost: null,
  shipping_details: null,
  statement_descriptor: null,
  test_clock: null,
  total_discount_amounts: [],
  total_pretax_credit_amounts: [],
  total_taxes: [],
};

/** Writes an invoice of a subscription; `invoice.created`. Nothing is asked of the customer yet. */
export function draftInvoice(world: World, subscription: Subscription, reason: BillingReason, given: Line[]): Invoice {
  const id = newId('in_1');
  const data = given.map((line) => ({ ...line, invoice: id }));
  const total = data.reduce((sum, line) => sum + line.amount, 0);
  return world.invoices.insert({
    ...untouched,
    ...addressee(world, subscription.customer),
    ...amounts(total),
    ...periodOf(world, subscription, reason),
    id,
    object: 'invoice',
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    billing_reason: reason,
    created: world.now(),
    currency: subscription.currency,
    customer: subscription.customer,
    effective_at: null,
    ending_balance: null,
    hosted_invoice_url: null,
    lines: listOf(data, `/v1/invoices/${id}/lines`),
    metadata: {},
    next_payment_attempt: null,
    number: null,
    parent: parentOf(subscription),
    starting_balance: world.customers.get(subscription.customer).balance,
    status: 'draft',
    webhooks_delivered_at: world.now(),
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    _: { payment: null, paymentIntent: null, firstFailure: null, retries: 0 },
  });
}

function amounts(total: number) {
  const due = Math.max(0, total);
  const taxFree = { subtotal_excluding_tax: total, total_excluding_tax: total };
  return { ...taxFree, amount_due: due, amount_paid: 0, amount_remaining: due, subtotal: total, total };
}

function addressee(world: World, customer: string) {
  const { email, name, phone, address } = world.customers.get(customer);
  const account_name = world.settings.businessName;
  return { account_name, customer_address: address, customer_email: email, customer_name: name, customer_phone: phone };
}

/** A renewal's invoice tells the week behind it, as Stripe's does; its lines tell the week ahead. */
function periodOf(world: World, subscription: Subscription, reason: BillingReason) {
  const now = world.now();
  const [item] = subscription.items.data;
  if (reason !== 'subscription_cycle' || !item) return { period_start: now, period_end: now };
  return { period_start: item.current_period_start, period_end: item.current_period_end };
}

function parentOf({ id, metadata }: Subscription): Invoice['parent'] {
  const details = { metadata, subscription: id };
  return { type: 'subscription_details', quote_details: null, subscription_details: details };
}
