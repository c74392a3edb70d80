import type { Stripe } from 'stripe';
import { invalid, notFound } from '../api/errors.ts';
import { day } from '../clock.ts';
import { requirePayable } from '../currencies.ts';
import type { Charge, Refund, RefundOutcome } from '../objects.ts';
import { newId } from '../table.ts';
import { type Call, given, idOf, mergeMetadata, newMetadata, type World } from '../world.ts';
import { enterBalance } from './balance.ts';
import { findTestCard } from './payment-methods.ts';

/*
 * A refund begins as `succeeded`, `pending` or `requires_action`, as the card or the customer's setting says. The clock
 * ends a pending one a day later: it succeeds or fails. A refund that has succeeded may fail as well, since the bank may
 * send the money back: https://docs.stripe.com/refunds#failed-refunds
 */

/** Refunds a payment fully or partly; its invoice stays paid. */
export function createRefund(world: World, { params }: Call<Stripe.RefundCreateParams>): Refund {
  const charge = chargeOf(world, params);
  const { metadata, amount = restOf(charge) } = params;
  return refundCharge(world, charge, {
    amount,
    metadata: newMetadata(metadata),
    ...given(params, 'reason'),
  });
}

type NewRefund = Pick<Refund, 'amount' | 'metadata'> & Partial<Pick<Refund, 'reason'>>;

/** Refunds `amount` cents of a charge. Throws what Stripe answers if the charge does not have them. */
export function refundCharge(world: World, charge: Charge, wanted: NewRefund): Refund {
  const outcome = outcomeFor(world, charge);
  refuseRefund(charge, outcome);
  if (wanted.amount < 1 || wanted.amount > restOf(charge))
    throw invalid('Refund amount is greater than unrefunded amount on charge', 'amount');
  requirePayable(wanted.amount, charge.currency);

  const refund = world.refunds.insert({
    ...wanted,
    ...beginning(outcome),
    id: newId('re_3'),
    object: 'refund',
    balance_transaction: null,
    charge: charge.id,
    created: world.now(),
    currency: charge.currency,
    customer: charge.customer,
    payment_intent: charge.payment_intent,
    payment_method: charge.payment_method,
    _: { endsAt: endOf(world, outcome), outcome },
  });
  const { id: balance_transaction } = enterBalance(world, 'refund', -refund.amount, refund);
  returnMoney(world, charge.id, refund.amount);
  return world.refunds.change(refund.id, { balance_transaction }, null);
}

const restOf = ({ amount, amount_refunded: refunded }: Charge): number => amount - refunded;

/** How a refund of this charge goes: as the customer's setting says, else as the card does. */
function outcomeFor(world: World, { customer, payment_method: id }: Charge): RefundOutcome {
  const chosen = world.store.get<{ outcome: RefundOutcome }>('stripe/meta', `refunds:${customer}`);
  const method = world.paymentMethods.find(id);
  return chosen?.outcome ?? findTestCard(method?._.number ?? '')?.refunds ?? 'succeeds';
}

export const refundOutcomes = [
  'succeeds',
  'pends',
  'fails',
  'asks',
  'refused',
] as const satisfies RefundOutcome[];

/** Sets how the next refunds of a customer go. */
export function setRefundOutcome(world: World, customer: string, outcome: RefundOutcome): void {
  world.store.put('stripe/meta', `refunds:${customer}`, { outcome });
}

function beginning(outcome: RefundOutcome): Pick<Refund, 'status' | 'pending_reason'> {
  if (outcome === 'pends')
    return {
      status: 'pending',
      pending_reason: 'processing',
    };
  if (outcome === 'asks') return { status: 'requires_action' };
  return { status: 'succeeded' };
}

/** When the clock changes a refund, in unix seconds. */
function endOf(world: World, outcome: RefundOutcome): number | null {
  return outcome === 'pends' || outcome === 'fails' ? world.now() + day : null;
}

export const refundDueAt = ({ _: { endsAt } }: Refund): number | null => endsAt;

/** The bank of the customer has decided about a refund. */
export function endRefund(world: World, id: string): void {
  const { _: internal } = world.refunds.get(id);
  if (internal.outcome === 'fails') return failRefund(world, id);

  world.refunds.change(id, (refund) => {
    refund.status = 'succeeded';
    delete refund.pending_reason;
    refund._.endsAt = null;
  });
}

/** The money of a refund comes back to the merchant. */
function failRefund(world: World, id: string): void {
  const { charge, amount, currency } = world.refunds.get(id);
  const entry = enterBalance(world, 'refund_failure', amount, {
    id,
    currency,
  });
  const failed = world.refunds.change(
    id,
    (refund) => {
      refund.status = 'failed';
      refund.failure_reason = 'expired_or_canceled_card';
      refund.failure_balance_transaction = entry.id;
      refund._.endsAt = null;
    },
    'refund.failed',
  );
  takeBackMoney(world, charge, amount);
  world.emit('refund.updated', failed, { status: 'succeeded' });
  world.emit('charge.refund.updated', failed, { status: 'succeeded' });
}

function returnMoney(world: World, id: string, amount: number): void {
  world.charges.change(
    id,
    (charge) => {
      charge.amount_refunded += amount;
      charge.refunded = restOf(charge) === 0;
    },
    'charge.refunded',
  );
}

function takeBackMoney(world: World, id: string, amount: number): void {
  world.charges.change(
    id,
    (charge) => {
      charge.amount_refunded -= amount;
      charge.refunded = false;
    },
    null,
  );
}

export function updateRefund(world: World, call: Call<Stripe.RefundUpdateParams>): Refund {
  return world.refunds.change(idOf(call), (refund) => {
    refund.metadata = mergeMetadata(refund.metadata ?? {}, call.params.metadata);
  });
}

/** Documented: only a refund that waits for the customer can be canceled. */
export function cancelRefund(world: World, call: Call): Refund {
  const { id, status, charge, amount } = world.refunds.get(idOf(call));
  if (status !== 'requires_action')
    throw invalid('Only refunds that require action can be canceled.');

  takeBackMoney(world, charge, amount);
  return world.refunds.change(id, { status: 'canceled' });
}

function chargeOf(
  world: World,
  { charge: id, payment_intent: intent }: Stripe.RefundCreateParams,
): Charge {
  if (id === undefined && intent === undefined)
    throw invalid(
      'One of the following params should be provided for this request: payment_intent or charge.',
    );
  const named = id ?? world.paymentIntents.get(intent ?? '', 'payment_intent').latest_charge ?? '';
  const charge = world.charges.find(named);
  if (!charge) throw notFound('charge', named);
  return charge;
}

function refuseRefund(charge: Charge, outcome: RefundOutcome): void {
  const { id, status, refunded, disputed, payment_intent: intent } = charge;
  if (status !== 'succeeded')
    throw invalid(`This PaymentIntent (${intent}) does not have a successful charge to refund.`);
  if (refunded)
    throw invalid(`Charge ${id} has already been refunded.`, undefined, 'charge_already_refunded');
  if (disputed)
    throw invalid(
      `Charge ${id} has been charged back; cannot issue a refund.`,
      undefined,
      'charge_disputed',
    );
  if (outcome === 'refused')
    throw invalid(`Charge ${id} is not refundable.`, undefined, 'charge_not_refundable');
}
