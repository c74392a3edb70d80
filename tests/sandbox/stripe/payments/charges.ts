import type { Stripe } from 'stripe';
import { type Call, type World, given, newMetadata } from '../world.ts';
import { newId } from '../table.ts';
import { type Decline, invalid, notFound, type StripeError } from '../api/errors.ts';
import type { Charge, PaymentIntent, PaymentMethod, Refund, Dispute } from '../objects.ts';
import { formatMoney } from '../hosted/layout.ts';
import { day } from '../clock.ts';

type Attempt = { intent: PaymentIntent; method: PaymentMethod; failure?: Decline | undefined };

/** Records one attempt to charge a payment method; emits `charge.succeeded` or `.failed`. */
export function newCharge(world: World, { intent, method, failure }: Attempt): Charge {
  const outcome: Charge['status'] = failure ? 'failed' : 'succeeded';
  const charge = world.charges.insert({
    id: newId('ch_3'),
    object: 'charge',
    amount: intent.amount,
    amount_captured: outcome === 'succeeded' ? intent.amount : 0,
    amount_refunded: 0,
    billing_details: method.billing_details,
    calculated_statement_descriptor: 'SOLACE',
    captured: true,
    created: world.now(),
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    disputed: false,
    failure_code: failure?.code ?? null,
    failure_message: failure?.message ?? null,
    metadata: intent.metadata,
    outcome: outcomeOf(failure),
    paid: outcome === 'succeeded',
    payment_intent: intent.id,
    payment_method: method.id,
    payment_method_details: { type: method.type, card: method.card },
    refunded: false,
    status: outcome,
  });
  world.emit(`charge.${outcome}`, charge);
  return charge;
}

function outcomeOf(failure: Decline | undefined) {
  const codes = { advice_code: null, network_advice_code: null, network_decline_code: null, risk_level: 'normal' };
  if (!failure) {
    const accepted = { network_status: 'approved_by_network', reason: null, type: 'authorized' };
    return { ...codes, ...accepted, seller_message: 'Payment complete.' };
  }
  const refused = { network_status: 'declined_by_network', type: 'issuer_declined' };
  const seller_message = 'The bank did not return any further details with this decline.';
  return { ...codes, ...refused, reason: failure.decline_code ?? failure.code, seller_message };
}

const untouchedRefund = {
  customer_account: null,
  destination_details: {
    card: { reference_status: 'pending', reference_type: 'acquirer_reference_number', type: 'refund' },
    type: 'card',
  },
};

/** Refunds a payment fully or partly; its invoice stays paid. */
export function createRefund(world: World, { params }: Call<Stripe.RefundCreateParams>): Refund {
  const charge = refundable(world, chargeOf(world, params));
  const left = charge.amount - charge.amount_refunded;
  const { amount = left } = params;
  if (amount < 1) throw tooSmall();
  if (amount > left) throw tooMuch(amount, left, charge.currency);
  const refund = world.refunds.insert({
    ...untouchedRefund,
    id: newId('re_3'),
    object: 'refund',
    amount,
    charge: charge.id,
    created: world.now(),
    currency: charge.currency,
    customer: charge.customer,
    metadata: newMetadata(params.metadata),
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    ...given(params, 'reason'),
    status: 'succeeded',
  });
  world.charges.change(
    charge.id,
    (charge) => {
      charge.amount_refunded += amount;
      charge.refunded = charge.amount_refunded === charge.amount;
    },
    'charge.refunded',
  );
  return refund;
}

function chargeOf(world: World, { charge, payment_intent: intent }: Stripe.RefundCreateParams): Charge {
  if (charge !== undefined) {
    const found = world.charges.find(charge);
    if (!found) throw notFound('charge', charge);
    return found;
  }
  if (intent === undefined) {
    throw invalid('One of the following params should be provided for this request: payment_intent or charge.');
  }
  const { latest_charge: latest } = world.paymentIntents.get(intent, 'payment_intent');
  const found = latest ? world.charges.get(latest) : undefined;
  if (found?.status !== 'succeeded') throw nothingToRefund(intent);
  return found;
}

function refundable(world: World, charge: Charge): Charge {
  if (charge.status !== 'succeeded') throw nothingToRefund(charge.payment_intent);
  if (charge.refunded) {
    throw invalid(`Charge ${charge.id} has already been refunded.`, undefined, 'charge_already_refunded');
  }
  if (!barringDispute(world, charge)) return charge;
  throw invalid(`Charge ${charge.id} has been charged back; cannot issue a refund.`, undefined, 'charge_disputed');
}

function nothingToRefund(intent: string): StripeError {
  return invalid(`This PaymentIntent (${intent}) does not have a successful charge to refund.`);
}

function tooSmall(): StripeError {
  return invalid('This value must be greater than or equal to 1.', 'amount', 'parameter_invalid_integer');
}

function tooMuch(amount: number, left: number, currency: string): StripeError {
  const [asked, unrefunded] = [amount, left].map((cents) => formatMoney(cents, currency));
  return invalid(`Refund amount (${asked}) is greater than unrefunded amount on charge (${unrefunded})`, 'amount');
}

type Cause = { reason: string; network_reason_code: string };

/** Opens a dispute: the bank withdraws the payment until the dispute is decided. */
export function openDispute(world: World, chargeId: string, { reason, network_reason_code }: Cause): Dispute {
  const charge = world.charges.get(chargeId);
  const brand = world.paymentMethods.find(charge.payment_method)?.card?.brand ?? 'visa';
  const dispute = world.disputes.insert({
    id: newId('du_1'),
    object: 'dispute',
    amount: charge.amount - charge.amount_refunded,
    charge: charge.id,
    created: world.now(),
    currency: charge.currency,
    evidence: { enhanced_evidence: {} },
    evidence_details: {
      due_by: world.now() + 8 * day,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    is_charge_refundable: false,
    metadata: {},
    payment_intent: charge.payment_intent,
    payment_method_details: {
      card: { brand, case_type: 'chargeback', network_reason_code },
      type: 'card',
    },
    reason,
    status: 'needs_response',
  });
  world.charges.change(charge.id, (charge) => void (charge.disputed = true), null);
  world.emit('charge.dispute.funds_withdrawn', dispute);
  return dispute;
}

/** The dispute that forbids the refund of a charge, if any. */
function barringDispute(world: World, { id }: Charge): Dispute | undefined {
  return world.disputes.all().find(({ charge, is_charge_refundable: refundable }) => charge === id && !refundable);
}
