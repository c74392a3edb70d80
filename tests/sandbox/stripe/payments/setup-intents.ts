import type { Stripe } from 'stripe';
import { type Call, idOf, type World, liveCustomer, newMetadata } from '../world.ts';
import { type Decline, declined, StripeError, invalid } from '../api/errors.ts';
import { newId } from '../table.ts';
import { methodNamed, refuseForeignMethod, findTestCard, attach } from './payment-methods.ts';
import {
  needsAuthentication,
  markSetUp,
  newPaymentIntent,
  unexpectedState,
  attemptPayment,
  failIntent,
} from './attempt-payment.ts';
import type { PaymentMethod, SetupIntent, PaymentIntent, Metadata } from '../objects.ts';
import { settleInvoice } from '../invoices/collect-invoice.ts';

export function createSetupIntent(world: World, { params }: Call<Stripe.SetupIntentCreateParams>): SetupIntent {
  const customer = params.customer ? liveCustomer(world, params.customer, 'customer').id : null;
  const method = params.payment_method ? methodNamed(world, params.payment_method, 'payment_method') : undefined;
  if (method) refuseForeignMethod(method, customer, 'SetupIntent');
  const intent = newSetupIntent(world, {
    customer,
    metadata: newMetadata(params.metadata),
    description: params.description ?? null,
    paymentMethod: method?.id ?? null,
  });
  return params.confirm ? confirm(world, intent.id, undefined) : intent;
}

export function confirmSetupIntent(world: World, call: Call<Stripe.SetupIntentConfirmParams>): SetupIntent {
  return confirm(world, idOf(call), call.params.payment_method);
}

function confirm(world: World, id: string, given: string | undefined): SetupIntent {
  const intent = world.setupIntents.get(id);
  const wanted = given ?? intent.payment_method;
  if (!wanted) {
    throw unexpected(
      intent,
      "You cannot confirm this SetupIntent because it's missing a payment method. You can either update the SetupIntent with a payment method and then confirm it again, or confirm it again directly with a payment method or ConfirmationToken.",
    );
  }
  if (intent.status === 'succeeded') {
    throw unexpected(intent, 'You cannot confirm this SetupIntent because it has already succeeded.');
  }
  if (intent.status === 'canceled') {
    throw unexpected(intent, 'You cannot confirm this SetupIntent because it has a status of canceled.');
  }
  const method = methodNamed(world, wanted, 'payment_method');
  refuseForeignMethod(method, intent.customer, 'SetupIntent');
  const refused = findTestCard(method._.number)?.refused;
  if (refused) throw failSetup(world, id, method, refused);
  return needsAuthentication(method) ? requireAction(world, id, method.id) : succeed(world, id, method.id);
}

function requireAction(world: World, id: string, method: string): SetupIntent {
  return world.setupIntents.change(
    id,
    (intent) => {
      const use_stripe_sdk = { type: 'three_d_secure_redirect', source: `setatt_${id.slice(6)}` };
      Object.assign(intent, { status: 'requires_action', payment_method: method, latest_attempt: newId('setatt_1') });
      intent.next_action = { type: 'use_stripe_sdk', use_stripe_sdk };
    },
    'setup_intent.requires_action',
  );
}

/** Recorded: a refused card leaves the intent open, and the response contains the intent. */
function failSetup(world: World, id: string, method: PaymentMethod, refused: Decline): StripeError {
  const details = { ...refused, decline_code: refused.decline_code ?? refused.code };
  const { _, ...shown } = method;
  const setup_intent = world.setupIntents.change(
    id,
    (intent) => {
      intent.last_setup_error = { type: 'card_error', ...details, payment_method: shown };
      Object.assign(intent, { status: 'requires_payment_method', payment_method: null });
      intent.latest_attempt = newId('setatt_1');
    },
    'setup_intent.setup_failed',
  );
  return declined(details, true, { payment_method: shown, setup_intent });
}

function unexpected(intent: SetupIntent, message: string): StripeError {
  const code = 'setup_intent_unexpected_state';
  return new StripeError(400, { type: 'invalid_request_error', code, message, setup_intent: intent });
}

type NewSetupIntent = {
  customer: string | null;
  metadata?: Metadata;
  description?: string | null;
  paymentMethod?: string | null;
  subscription?: string;
};

const untouched = {
  automatic_payment_methods: { allow_redirects: 'always', enabled: true },
  customer_account: null,
  flow_directions: null,
  managed_payments: null,
  payment_method_options: {
    card: { mandate_options: null, network: null, request_three_d_secure: 'automatic' },
  },
  payment_method_types: ['card'],
  // Recorded: Stripe returns this whatever the parameters say.
  usage: 'off_session',
};

export function newSetupIntent(world: World, fields: NewSetupIntent): SetupIntent {
  const id = newId('seti_1');
  return world.setupIntents.insert({
    ...untouched,
    client_secret: `${id}_secret_${newId('')}`,
    description: fields.description ?? null,
    id,
    object: 'setup_intent',
    created: world.now(),
    customer: fields.customer,
    metadata: fields.metadata ?? {},
    payment_method: fields.paymentMethod ?? null,
    status: fields.paymentMethod ? 'requires_confirmation' : 'requires_payment_method',
    _: { subscription: fields.subscription ?? null },
  });
}

/** Saves the card for the customer, so that it can be charged later without them. */
export function succeed(world: World, id: string, paymentMethod: string): SetupIntent {
  const { customer, _: internal } = world.setupIntents.get(id);
  if (customer) attach(world, paymentMethod, customer, 'payment_method');
  markSetUp(world, paymentMethod);
  const { subscription } = internal;
  if (subscription) world.subscriptions.change(subscription, (waiting) => void (waiting.pending_setup_intent = null));
  return world.setupIntents.change(
    id,
    (intent) => {
      Object.assign(intent, { status: 'succeeded', payment_method: paymentMethod, next_action: null });
      intent.latest_attempt = newId('setatt_1');
    },
    'setup_intent.succeeded',
  );
}

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
