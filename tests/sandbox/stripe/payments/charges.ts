import type { Stripe } from 'stripe';
import { type Call, type World, given, newMetadata } from '../world.ts';
import { newId } from '../table.ts';
import { type Decline, invalid, notFound } from '../api/errors.ts';
import type { Charge, PaymentIntent, PaymentMethod, Refund, Dispute } from '../objects.ts';

type Attempt = { intent: PaymentIntent; method: PaymentMethod; failure?: Decline | undefined };

/** Records one attempt to charge a payment method; emits `charge.succeeded` or `.failed`. */
export function newCharge(world: World, { intent, method, failure }: Attempt): Charge {
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
  world.emit(`charge.${outcome}`, charge);
  return charge;
}

/** Refunds a payment fully or partly; its invoice stays paid. */
export function createRefund(world: World, { params }: Call<Stripe.RefundCreateParams>): Refund {
  const charge = chargeOf(world, params);
  refuseRefund(charge);
  const left = charge.amount - charge.amount_refunded;
  const { amount = left } = params;
  if (amount < 1 || amount > left) {
    throw invalid('Refund amount is greater than unrefunded amount on charge', 'amount');
  }
  const refund = world.refunds.insert({
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

function chargeOf(world: World, { charge: id, payment_intent: intent }: Stripe.RefundCreateParams): Charge {
  if (id === undefined && intent === undefined) {
    throw invalid('One of the following params should be provided for this request: payment_intent or charge.');
  }
  const named = id ?? world.paymentIntents.get(intent ?? '', 'payment_intent').latest_charge ?? '';
  const charge = world.charges.find(named);
  if (!charge) throw notFound('charge', named);
  return charge;
}

function refuseRefund({ id, status, refunded, disputed, payment_intent: intent }: Charge): void {
  if (status !== 'succeeded') {
    throw invalid(`This PaymentIntent (${intent}) does not have a successful charge to refund.`);
  }
  if (refunded) throw invalid(`Charge ${id} has already been refunded.`, undefined, 'charge_already_refunded');
  if (disputed) {
    throw invalid(`Charge ${id} has been charged back; cannot issue a refund.`, undefined, 'charge_disputed');
  }
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
      card: { brand, case_type: 'chargeback', network_reason_code: '10.4' },
      type: 'card',
    },
  });
  world.charges.change(charge.id, (charge) => void (charge.disputed = true), null);
  world.emit('charge.dispute.funds_withdrawn', dispute);
  return dispute;
}
