import type { Decline } from '../errors.ts';
import { newCharge } from '../objects/charges.ts';
import { openDispute } from '../objects/disputes.ts';
import { bankDebitTakes } from '../objects/payment-intents.ts';
import { decline, findTestCard } from './test-cards.ts';
import type { PaymentIntent } from '../types/payment-intents.ts';
import type { PaymentMethod } from '../types/payment-methods.ts';
import type { World } from '../types/world.ts';

export type Outcome =
  | { kind: 'declined'; decline: Decline }
  /** The cardholder must authenticate the payment first. */
  | { kind: 'action' }
  /** A bank debit, which settles days later. */
  | { kind: 'processing' }
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
  if (method.type === 'us_bank_account') return startDebit(world, intent, method);
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
  const disputed = findTestCard(method._.number)?.disputed;
  if (disputed) openDispute(world, charge.id, disputed);
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
      const method = intent.payment_method && world.paymentMethods.find(intent.payment_method);
      const { _, ...details } = method || { _: null };
      intent.last_payment_error = {
        type: 'card_error',
        ...failure,
        ...(charge && { charge }),
        payment_method: details,
      };
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

function startDebit(world: World, intent: PaymentIntent, method: PaymentMethod): Outcome {
  const { id: latest_charge } = newCharge(world, { intent, method, status: 'pending' });
  world.paymentIntents.change(
    intent.id,
    (intent) => {
      Object.assign(intent, { status: 'processing', payment_method: method.id, latest_charge });
      intent._.settlesAt = world.now() + bankDebitTakes;
    },
    'payment_intent.processing',
  );
  return { kind: 'processing' };
}
