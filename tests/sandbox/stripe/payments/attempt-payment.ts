import { type Decline, declined } from '../api/errors.ts';
import { newCharge, openDispute } from './charges.ts';
import { decline, findTestCard } from './payment-methods.ts';
import type { PaymentIntent, PaymentMethod } from '../objects.ts';
import type { World } from '../world.ts';
import { newId } from '../table.ts';

export type Outcome =
  | { kind: 'declined'; decline: Decline }
  /** The cardholder must authenticate the payment first. */
  | { kind: 'action' }
  | { kind: 'paid' };

/** `isAuthenticated`: the cardholder has authenticated this payment. */
type Attempt = { isAuthenticated?: boolean | undefined };

export const authenticationFailed: Decline = {
  code: 'payment_intent_authentication_failure',
  message:
    'The provided PaymentMethod has failed authentication. You can provide payment_method_data or a new PaymentMethod to attempt to fulfill this PaymentIntent again.',
};

/** Charges a payment method for an intent, with the test cards' outcomes. Changes the intent and emits its events. */
export function attemptPayment(world: World, id: string, method: PaymentMethod, { isAuthenticated }: Attempt): Outcome {
  const intent = world.paymentIntents.get(id);
  if (method._.declines ?? findTestCard(method._.number)?.refused ?? findTestCard(method._.number)?.declines) {
    return refuse(world, intent, method);
  }
  if (needsAuthentication(method) && !isAuthenticated) return requireAction(world, intent, method);
  return succeed(world, intent, method);
}

/** Whether a payment needs authentication: always, or until the card is set up. */
export function needsAuthentication({ _: { number, isSetUp } }: PaymentMethod): boolean {
  const authentication = findTestCard(number)?.authentication;
  return authentication === 'always' || (authentication === 'once' && !isSetUp);
}

/** Allows later charges without the cardholder. */
export function markSetUp(world: World, method: string): void {
  world.paymentMethods.change(method, ({ _ }) => void (_.isSetUp = true), null);
}

function succeed(world: World, intent: PaymentIntent, method: PaymentMethod): Outcome {
  const charge = newCharge(world, { intent, method });
  if (findTestCard(method._.number)?.disputes) openDispute(world, charge.id);
  if (method.customer) markSetUp(world, method.id);
  else world.paymentMethods.change(method.id, ({ _ }) => void (_.isUsed = true), null);
  world.paymentIntents.change(
    intent.id,
    (intent) => {
      Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, latest_charge: charge.id });
      Object.assign(intent, { last_payment_error: null, next_action: null, payment_method: method.id });
    },
    'payment_intent.succeeded',
  );
  return { kind: 'paid' };
}

function refuse(world: World, intent: PaymentIntent, method: PaymentMethod): Outcome {
  const refused = findTestCard(method._.number)?.refused ?? decline;
  const charge = newCharge(world, { intent, method, failure: refused });
  failIntent(world, intent.id, refused, charge.id);
  return { kind: 'declined', decline: refused };
}

/** Records a failed payment; the intent then requires another payment method. */
export function failIntent(world: World, id: string, failure: Decline, charge?: string): PaymentIntent {
  return world.paymentIntents.change(
    id,
    (intent) => {
      intent.last_payment_error = { type: 'card_error', ...failure, ...(charge && { charge }) };
      Object.assign(intent, { status: 'requires_payment_method', payment_method: null, next_action: null });
      intent.latest_charge = charge ?? intent.latest_charge;
    },
    'payment_intent.payment_failed',
  );
}

function requireAction(world: World, { id }: PaymentIntent, method: PaymentMethod): Outcome {
  world.paymentIntents.change(
    id,
    (intent) => {
      const use_stripe_sdk = { type: 'three_d_secure_redirect', source: `payatt_${id.slice(3)}` };
      Object.assign(intent, { status: 'requires_action', payment_method: method.id });
      intent.next_action = { type: 'use_stripe_sdk', use_stripe_sdk };
    },
    'payment_intent.requires_action',
  );
  return { kind: 'action' };
}

export const actionRequired = 'subscription_payment_intent_requires_action';

/** Implements `error_if_incomplete`: throws 402 for a payment that failed or needs authentication. */
export function refuseIncomplete(outcome: Outcome): void {
  if (outcome.kind === 'declined') throw declined(outcome.decline, false);
  if (outcome.kind !== 'action') return;
  const message =
    'Payment for this subscription requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with subscription.latest_invoice. If you would like to update the subscription without any additional user action, set payment_behavior to allow_incomplete.';
  throw declined({ code: actionRequired, message }, false);
}

type Payment = Pick<PaymentIntent, 'amount' | 'currency' | 'customer'> &
  Partial<Pick<PaymentIntent, 'description' | 'payment_method' | 'setup_future_usage'>> & {
    invoice?: string | null;
  };

export function newPaymentIntent(world: World, { invoice = null, ...payment }: Payment): PaymentIntent {
  const id = newId('pi_3');
  return world.paymentIntents.insert({
    client_secret: `${id}_secret_${newId('')}`,
    id,
    object: 'payment_intent',
    created: world.now(),
    status: payment.payment_method ? 'requires_confirmation' : 'requires_payment_method',
    ...payment,
    _: { invoice },
  });
}
