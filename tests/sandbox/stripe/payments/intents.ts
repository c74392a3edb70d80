import type { Stripe } from 'stripe';
import { type Call, idOf, type World, liveCustomer, newMetadata } from '../world.ts';
import { declined, invalid } from '../api/errors.ts';
import { requirePayable } from '../currencies.ts';
import { newId } from '../table.ts';
import {
  attach,
  markSetUp,
  methodNamed,
  needsAuthentication,
  newPaymentMethod,
  type TestCard,
} from './payment-methods.ts';
import { attemptPayment, authenticationOf, newPaymentIntent, refuseIncomplete } from './charges.ts';
import type { SetupIntent, PaymentIntent, Metadata } from '../objects.ts';

export function createSetupIntent(
  world: World,
  { params }: Call<Stripe.SetupIntentCreateParams>,
): SetupIntent {
  const { id: customer } = liveCustomer(world, params.customer ?? '', 'customer');
  return newSetupIntent(world, {
    customer,
    metadata: newMetadata(params.metadata),
  });
}

/** Saves the card at once, or when its holder has authenticated. Throws 402 when its bank refuses it. */
export function confirmSetupIntent(
  world: World,
  call: Call<{ payment_method?: string }>,
): SetupIntent {
  const { id, status } = world.setupIntents.get(idOf(call));
  const { payment_method: wanted } = call.params;
  if (!wanted || status === 'succeeded') {
    const why = wanted ? 'it has already succeeded' : "it's missing a payment method";
    throw invalid(
      `You cannot confirm this SetupIntent because ${why}.`,
      undefined,
      'setup_intent_unexpected_state',
    );
  }
  const method = methodNamed(world, wanted, 'payment_method');
  if (!needsAuthentication(method)) return succeed(world, id, method.id);
  const attempt = {
    payment_method: method.id,
    latest_attempt: newId('setatt_1'),
  };
  const waiting = {
    ...attempt,
    ...authenticationOf(`setatt_${id.slice(6)}`),
  };
  return world.setupIntents.change(id, waiting, 'setup_intent.requires_action');
}

type NewSetupIntent = {
  customer: string;
  metadata?: Metadata;
  subscription?: string;
};

export function newSetupIntent(
  world: World,
  { customer, metadata = {}, subscription }: NewSetupIntent,
): SetupIntent {
  const id = newId('seti_1');
  return world.setupIntents.insert({
    client_secret: `${id}_secret_${newId('')}`,
    id,
    object: 'setup_intent',
    created: world.now(),
    customer,
    metadata,
    _: { subscription: subscription ?? null },
  });
}

/** Saves the card for the customer, so that it can be charged later without them. */
export function succeed(world: World, id: string, paymentMethod: string): SetupIntent {
  const { customer, _: internal } = world.setupIntents.get(id);
  attach(world, paymentMethod, customer ?? '', 'payment_method');
  markSetUp(world, paymentMethod);
  const { subscription } = internal;
  if (subscription) world.subscriptions.change(subscription, { pending_setup_intent: null });
  const saved = {
    status: 'succeeded',
    payment_method: paymentMethod,
    latest_attempt: newId('setatt_1'),
  } as const;
  return world.setupIntents.change(id, { ...saved, next_action: null }, 'setup_intent.succeeded');
}

/** How a hosted page is paid. `isAuthenticated`: the cardholder has authenticated the payment. */
export type Payment = { card: TestCard; isAuthenticated: boolean };

/** Saves a new card for later charges; returns its id. Throws 402 if the cardholder must authenticate first. */
export function setUpCard(
  world: World,
  customer: string,
  { card, isAuthenticated }: Payment,
): string {
  const method = attach(world, newPaymentMethod(world, card).id, customer);
  if (needsAuthentication(method) && !isAuthenticated) refuseIncomplete({ kind: 'action' });
  markSetUp(world, method.id);
  return method.id;
}

/** A payment without a customer. */
export function createPaymentIntent(
  world: World,
  { params }: Call<Stripe.PaymentIntentCreateParams>,
): PaymentIntent {
  const { amount, currency, payment_method: given } = params;
  if (amount < 1)
    throw invalid(
      'This value must be greater than or equal to 1.',
      'amount',
      'parameter_invalid_integer',
    );
  requirePayable(amount, currency.toLowerCase());
  const method = given ? methodNamed(world, given, 'payment_method') : undefined;
  if (method?.customer) {
    const message = `The payment method supplied (${method.id}) belongs to the Customer ${method.customer}. Please include the Customer in the \`customer\` parameter on the PaymentIntent.`;
    throw invalid(message, 'payment_method');
  }
  const payment = {
    amount,
    currency: currency.toLowerCase(),
    payment_method: method?.id ?? null,
  };
  return newPaymentIntent(world, { ...payment, customer: null });
}

/** A declined charge is a 402 that contains the intent; the changes of the attempt are kept. */
export function confirmPaymentIntent(world: World, call: Call): PaymentIntent {
  const { id, status, payment_method: method } = world.paymentIntents.get(idOf(call));
  if (status !== 'requires_confirmation' || !method) {
    throw invalid(
      `You cannot confirm this PaymentIntent because it has a status of ${status}.`,
      undefined,
      'payment_intent_unexpected_state',
    );
  }
  const outcome = attemptPayment(world, id, world.paymentMethods.get(method));
  const intent = world.paymentIntents.get(id);
  if (outcome.kind !== 'declined') return intent;
  throw declined(outcome.decline, true, {
    charge: intent.latest_charge,
    payment_intent: intent,
  });
}
