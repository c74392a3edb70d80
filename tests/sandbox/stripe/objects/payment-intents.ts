import { type Call, idOf } from '../api/call.ts';
import { StripeError } from '../errors.ts';
import { newId } from '../ids.ts';
import { day } from '../interval.ts';
import type { PaymentIntent } from '../types/payment-intents.ts';
import type { World } from '../types/world.ts';

const untouched = {
  allowed_payment_method_types: null,
  amount_capturable: 0,
  amount_details: { tip: {} },
  application: null,
  application_fee_amount: null,
  automatic_payment_methods: null,
  capture_method: 'automatic_async',
  customer_account: null,
  payment_record: null,
  confirmation_method: 'automatic',
  excluded_payment_method_types: null,
  livemode: false,
  managed_payments: { enabled: false },
  on_behalf_of: null,
  payment_method_configuration_details: null,
  payment_method_options: {
    card: { installments: null, mandate_options: null, network: null, request_three_d_secure: 'automatic' },
  },
  payment_method_types: ['card'],
  receipt_email: null,
  review: null,
  shipping: null,
  source: null,
  statement_descriptor: null,
  statement_descriptor_suffix: null,
  transfer_data: null,
  transfer_group: null,
};

/** The time until a bank debit settles, in seconds. */
export const bankDebitTakes = 4 * day;

export function intentDueAt({ status, _: { settlesAt } }: PaymentIntent): number | null {
  return status === 'processing' ? settlesAt : null;
}

type Payment = Pick<PaymentIntent, 'amount' | 'currency' | 'customer'> &
  Partial<Pick<PaymentIntent, 'description' | 'metadata' | 'payment_method'>> & {
    invoice?: string;
    setupFutureUsage?: string | null;
  };

export function newPaymentIntent(world: World, payment: Payment): PaymentIntent {
  const id = newId('pi_3');
  return world.paymentIntents.insert({
    ...untouched,
    client_secret: `${id}_secret_${newId('')}`,
    id,
    object: 'payment_intent',
    amount: payment.amount,
    amount_received: 0,
    canceled_at: null,
    cancellation_reason: null,
    created: world.now(),
    currency: payment.currency,
    customer: payment.customer,
    description: payment.description ?? null,
    last_payment_error: null,
    latest_charge: null,
    metadata: payment.metadata ?? {},
    next_action: null,
    payment_method: payment.payment_method ?? null,
    processing: null,
    setup_future_usage: payment.setupFutureUsage ?? null,
    status: payment.payment_method ? 'requires_confirmation' : 'requires_payment_method',
    _: { invoice: payment.invoice ?? null, settlesAt: null },
  });
}

/** The error of a call that the intent's status does not allow; it contains the intent. */
export function unexpectedState(intent: PaymentIntent, message: string): StripeError {
  const code = 'payment_intent_unexpected_state';
  return new StripeError(400, { type: 'invalid_request_error', code, message, payment_intent: intent });
}

export function retrievePaymentIntent(world: World, call: Call): PaymentIntent {
  return world.paymentIntents.get(idOf(call));
}
