import type { Stripe } from 'stripe';
import { type Call, idOf, type World } from '../world.ts';
import { declined, invalid } from '../api/errors.ts';
import { liveCustomer, newMetadata } from '../live-customer.ts';
import { newPaymentIntent, unexpectedState, attemptPayment, failIntent } from './attempt-payment.ts';
import { methodNamed, refuseForeignMethod } from './payment-methods.ts';
import { settleInvoice } from '../invoices/collect-invoice.ts';
import type { PaymentIntent, PaymentMethod } from './payment-types.ts';

type Confirm = { payment_method?: string | undefined; off_session?: unknown };

export function createPaymentIntent(world: World, { params }: Call<Stripe.PaymentIntentCreateParams>): PaymentIntent {
  const { amount, currency, customer, confirm } = params;
  if (amount < 1) {
    throw invalid('This value must be greater than or equal to 1.', 'amount', 'parameter_invalid_integer');
  }
  if (customer) liveCustomer(world, customer, 'customer');
  const method = params.payment_method && methodNamed(world, params.payment_method, 'payment_method');
  if (method) refuseForeignMethod(method, customer ?? null, 'PaymentIntent');
  const intent = newPaymentIntent(world, {
    amount,
    currency: currency.toLowerCase(),
    customer: customer ?? null,
    description: params.description ?? null,
    metadata: newMetadata(params.metadata),
    ...(method && { payment_method: method.id }),
    setupFutureUsage: params.setup_future_usage ?? null,
  });
  return confirm ? confirmIntent(world, intent.id, { off_session: params.off_session }) : intent;
}

export function confirmPaymentIntent(world: World, call: Call<Stripe.PaymentIntentConfirmParams>): PaymentIntent {
  return confirmIntent(world, idOf(call), call.params);
}

function confirmIntent(world: World, id: string, params: Confirm): PaymentIntent {
  const intent = world.paymentIntents.get(id);
  if (!['requires_payment_method', 'requires_confirmation', 'requires_action'].includes(intent.status)) {
    throw unexpectedState(intent, `You cannot confirm this PaymentIntent because it has a status of ${intent.status}.`);
  }
  const wanted = params.payment_method ?? intent.payment_method;
  if (!wanted) {
    throw unexpectedState(
      intent,
      "You cannot confirm this PaymentIntent because it's missing a payment method. You can either update the PaymentIntent with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken.",
    );
  }
  const method = methodNamed(world, wanted, 'payment_method');
  refuseForeignMethod(method, intent.customer, 'PaymentIntent');
  return charge(world, id, method, params.off_session === true || params.off_session === 'true');
}

function charge(world: World, id: string, method: PaymentMethod, isOffSession: boolean): PaymentIntent {
  const outcome = attemptPayment(world, id, method, {});
  if (outcome.kind === 'declined') throw failure(world, id, outcome.decline);
  if (outcome.kind === 'action' && isOffSession) {
    const code = 'authentication_required';
    const message = 'Your card was declined. This transaction requires authentication.';
    failIntent(world, id, { code, decline_code: code, message });
    throw failure(world, id, { code, decline_code: code, message });
  }
  const intent = world.paymentIntents.get(id);
  if (outcome.kind === 'paid' && intent._.invoice) settleInvoice(world, intent._.invoice);
  return world.paymentIntents.get(id);
}

/** The 402 of a declined charge; it contains the intent, and the changes of the attempt are kept. */
function failure(world: World, id: string, decline: Parameters<typeof declined>[0]) {
  const intent = world.paymentIntents.get(id);
  return declined(decline, true, { charge: intent.latest_charge, payment_intent: intent });
}
