import { type Decline, declined, invalid } from '../api/errors.ts';
import type { PaymentIntent, PaymentMethod, Charge, Dispute } from '../objects.ts';
import { type Call, idOf, type World } from '../world.ts';
import { newId } from '../table.ts';
import { enterBalance } from './balance.ts';
import { decline, findTestCard, markSetUp, needsAuthentication } from './payment-methods.ts';

export type Outcome =
  | { kind: 'declined'; decline: Decline }
  /** The cardholder must authenticate the payment first. */
  | { kind: 'action' }
  | { kind: 'paid' };

export const authenticationFailed: Decline = {
  code: 'payment_intent_authentication_failure',
  message:
    'The provided PaymentMethod has failed authentication. You can provide payment_method_data or a new PaymentMethod to attempt to fulfill this PaymentIntent again.',
};

/**
 * Charges a payment method for an intent, with the test cards' outcomes. Changes the intent and emits its events.
 * `isAuthenticated`: the cardholder has authenticated this payment.
 */
export function attemptPayment(
  world: World,
  id: string,
  method: PaymentMethod,
  isAuthenticated = false,
): Outcome {
  const intent = world.paymentIntents.get(id);
  if (
    method._.declines ??
    findTestCard(method._.number)?.refused ??
    findTestCard(method._.number)?.declines
  ) {
    return refuse(world, intent, method);
  }
  if (needsAuthentication(method) && !isAuthenticated) return requireAction(world, intent, method);
  return succeed(world, intent, method);
}

function succeed(world: World, intent: PaymentIntent, method: PaymentMethod): Outcome {
  const charge = newCharge(world, intent, method);
  if (findTestCard(method._.number)?.disputes) openDispute(world, charge.id);
  if (method.customer) markSetUp(world, method.id);
  else world.paymentMethods.change(method.id, ({ _ }) => void (_.isUsed = true), null);
  const received = {
    status: 'succeeded',
    amount_received: intent.amount,
    latest_charge: charge.id,
  } as const;
  const changes = {
    ...received,
    last_payment_error: null,
    next_action: null,
    payment_method: method.id,
  };
  world.paymentIntents.change(intent.id, changes, 'payment_intent.succeeded');
  return { kind: 'paid' };
}

function refuse(world: World, intent: PaymentIntent, method: PaymentMethod): Outcome {
  const refused = findTestCard(method._.number)?.refused ?? decline;
  const charge = newCharge(world, intent, method, refused);
  failIntent(world, intent.id, refused, charge.id);
  return { kind: 'declined', decline: refused };
}

/** Records a failed payment; the intent then requires another payment method. */
export function failIntent(
  world: World,
  id: string,
  failure: Decline,
  charge?: string,
): PaymentIntent {
  const failed = {
    status: 'requires_payment_method',
    payment_method: null,
    next_action: null,
  } as const;
  const last_payment_error = {
    type: 'card_error',
    ...failure,
    ...(charge && { charge }),
  };
  const changes = {
    ...failed,
    last_payment_error,
    ...(charge && { latest_charge: charge }),
  };
  return world.paymentIntents.change(id, changes, 'payment_intent.payment_failed');
}

function requireAction(world: World, { id }: PaymentIntent, method: PaymentMethod): Outcome {
  const waiting = {
    payment_method: method.id,
    ...authenticationOf(`payatt_${id.slice(3)}`),
  };
  world.paymentIntents.change(id, waiting, 'payment_intent.requires_action');
  return { kind: 'action' };
}

/** The state of an intent whose cardholder must authenticate. */
export function authenticationOf(source: string) {
  const use_stripe_sdk = { type: 'three_d_secure_redirect', source };
  return {
    status: 'requires_action',
    next_action: { type: 'use_stripe_sdk', use_stripe_sdk },
  } as const;
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

export function newPaymentIntent(
  world: World,
  { invoice = null, ...payment }: Payment,
): PaymentIntent {
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

/** Records one attempt to charge a payment method; emits `charge.succeeded` or `.failed`. */
function newCharge(
  world: World,
  intent: PaymentIntent,
  method: PaymentMethod,
  failure?: Decline,
): Charge {
  const outcome: Charge['status'] = failure ? 'failed' : 'succeeded';
  const charge = world.charges.insert({
    id: newId('ch_3'),
    object: 'charge',
    amount: intent.amount,
    amount_captured: outcome === 'succeeded' ? intent.amount : 0,
    billing_details: method.billing_details,
    created: world.now(),
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    paid: outcome === 'succeeded',
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: { type: method.type, card: method.card },
    status: outcome,
  });
  const entered = failure ? charge : enterCharge(world, charge);
  world.emit(`charge.${outcome}`, entered);
  return entered;
}

function enterCharge(world: World, charge: Charge): Charge {
  const { id: balance_transaction } = enterBalance(world, 'charge', charge.amount, charge);
  return world.charges.change(charge.id, { balance_transaction }, null);
}

/** Opens a dispute: the bank withdraws the payment until the dispute is decided. */
export function openDispute(world: World, chargeId: string): Dispute {
  const charge = world.charges.get(chargeId);
  const brand = world.paymentMethods.find(charge.payment_method)?.card?.brand ?? 'visa';
  const dispute = world.disputes.insert({
    id: newId('du_1'),
    object: 'dispute',
    amount: charge.amount - charge.amount_refunded,
    charge: charge.id,
    created: world.now(),
    currency: charge.currency,
    payment_intent: charge.payment_intent,
    payment_method_details: {
      card: {
        brand,
        case_type: 'chargeback',
        network_reason_code: '10.4',
      },
      type: 'card',
    },
  });
  world.charges.change(charge.id, { disputed: true }, null);
  world.emit('charge.dispute.funds_withdrawn', dispute);
  return dispute;
}

/** Accepts a dispute: the money stays with the bank. */
export function closeDispute(world: World, call: Call): Dispute {
  const { id, status } = world.disputes.get(idOf(call));
  if (status !== 'needs_response') throw invalid('This dispute is already closed.');

  const closed = world.disputes.change(id, { status: 'lost' }, null);
  world.emit('charge.dispute.closed', closed);
  return closed;
}
