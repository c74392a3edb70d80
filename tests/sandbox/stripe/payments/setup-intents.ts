import type { Stripe } from 'stripe';
import { type Call, idOf, type World } from '../world.ts';
import { type Decline, declined, StripeError } from '../api/errors.ts';
import { newId } from '../table.ts';
import { liveCustomer, newMetadata } from '../live-customer.ts';
import { methodNamed, refuseForeignMethod, findTestCard, attach } from './payment-methods.ts';
import { needsAuthentication, markSetUp } from './attempt-payment.ts';
import type { PaymentMethod, SetupIntent } from './payment-types.ts';
import type { Metadata } from '../merchant-types.ts';

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
  allowed_payment_method_types: null,
  application: null,
  automatic_payment_methods: { allow_redirects: 'always', enabled: true },
  customer_account: null,
  excluded_payment_method_types: null,
  flow_directions: null,
  livemode: false,
  managed_payments: null,
  mandate: null,
  on_behalf_of: null,
  payment_method_configuration_details: null,
  payment_method_options: {
    card: { mandate_options: null, network: null, request_three_d_secure: 'automatic' },
  },
  payment_method_types: ['card'],
  single_use_mandate: null,
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
    cancellation_reason: null,
    created: world.now(),
    customer: fields.customer,
    last_setup_error: null,
    latest_attempt: null,
    metadata: fields.metadata ?? {},
    next_action: null,
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
