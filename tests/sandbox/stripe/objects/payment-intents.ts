import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import { newId } from '../ids.ts';
import type { World } from '../world.ts';

export type PaymentIntent = {
  id: string;
  object: 'payment_intent';
  amount: number;
  amount_received: number;
  canceled_at: number | null;
  cancellation_reason: string | null;
  client_secret: string;
  created: number;
  currency: string;
  customer: string;
  last_payment_error: unknown;
  payment_method: string | null;
  status: 'requires_payment_method' | 'succeeded' | 'canceled';
};

const untouched = {
  allowed_payment_method_types: ['card'],
  amount_capturable: 0,
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: null,
  capture_method: 'automatic',
  customer_account: null,
  payment_record: null,
  confirmation_method: 'automatic',
  description: 'Subscription',
  excluded_payment_method_types: null,
  latest_charge: null,
  livemode: false,
  managed_payments: null,
  metadata: {},
  next_action: null,
  on_behalf_of: null,
  payment_method_configuration_details: null,
  payment_method_options: {},
  payment_method_types: ['card'],
  processing: null,
  receipt_email: null,
  review: null,
  setup_future_usage: 'off_session',
  shipping: null,
  source: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  transfer_group: null,
};

type Payment = { amount: number; currency: string; customer: string };

/** The attempt to collect an invoice's amount. */
export function newPaymentIntent(world: World, { amount, currency, customer }: Payment): PaymentIntent {
  const id = newId('pi_3');
  return world.paymentIntents.insert({
    ...untouched,
    client_secret: `${id}_secret_${newId('')}`,
    id,
    object: 'payment_intent',
    amount,
    amount_received: 0,
    canceled_at: null,
    cancellation_reason: null,
    created: world.now(),
    currency,
    customer,
    last_payment_error: null,
    payment_method: null,
    status: 'requires_payment_method',
  });
}

export function retrievePaymentIntent(world: World, call: Call): PaymentIntent {
  return world.paymentIntents.get(idOf(call));
}

export function listPaymentIntents(world: World, { params }: Call<Stripe.PaymentIntentListParams>) {
  const found = world.paymentIntents
    .all()
    .filter((intent) => params.customer === undefined || intent.customer === params.customer)
    .filter((intent) => inRange(intent.created, params.created));
  return pageOf(found, params, '/v1/payment_intents');
}
