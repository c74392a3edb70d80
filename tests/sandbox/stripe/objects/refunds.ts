import type { Stripe } from 'stripe';
import { type Call } from '../api/call.ts';
import { invalid, notFound, type StripeError } from '../errors.ts';
import { newId } from '../ids.ts';
import { formatMoney } from '../money.ts';
import { barringDispute } from './disputes.ts';
import { newMetadata } from './metadata.ts';
import type { Charge } from '../types/charges.ts';
import type { Refund } from '../types/refunds.ts';
import type { World } from '../types/world.ts';

const untouched = {
  balance_transaction: null,
  customer_account: null,
  destination_details: {
    card: { reference_status: 'pending', reference_type: 'acquirer_reference_number', type: 'refund' },
    type: 'card',
  },
  receipt_number: null,
  source_transfer_reversal: null,
  transfer_reversal: null,
};

/** Refunds a payment fully or partly; its invoice stays paid. */
export function createRefund(world: World, { params }: Call<Stripe.RefundCreateParams>): Refund {
  const charge = refundable(world, chargeOf(world, params));
  const left = charge.amount - charge.amount_refunded;
  const { amount = left } = params;
  if (amount < 1) throw tooSmall();
  if (amount > left) throw tooMuch(amount, left, charge.currency);
  const refund = world.refunds.insert({
    ...untouched,
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
    reason: params.reason ?? null,
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
