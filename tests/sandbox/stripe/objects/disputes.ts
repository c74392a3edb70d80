import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import { day } from '../interval.ts';
import { evidenceFields } from './dispute-evidence.ts';
import { mergeMetadata } from './metadata.ts';
import type { Charge } from '../types/charges.ts';
import type { Dispute } from '../types/disputes.ts';
import type { World } from '../types/world.ts';

type Cause = { reason: string; network_reason_code: string };

/** Opens a dispute: the bank withdraws the payment until the dispute is decided. */
export function openDispute(world: World, chargeId: string, { reason, network_reason_code }: Cause): Dispute {
  const charge = world.charges.get(chargeId);
  const brand = world.paymentMethods.find(charge.payment_method)?.card?.brand ?? 'visa';
  const dispute = world.disputes.insert({
    id: newId('du_1'),
    object: 'dispute',
    amount: charge.amount - charge.amount_refunded,
    balance_transactions: [],
    charge: charge.id,
    created: world.now(),
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: evidenceFields(),
    evidence_details: {
      due_by: world.now() + 8 * day,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
    },
    is_charge_refundable: false,
    livemode: false,
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

/**
 * As at Stripe, `winning_evidence` and `losing_evidence` decide a test dispute; other evidence leaves it under review.
 */
export function updateDispute(world: World, call: Call<Stripe.DisputeUpdateParams>): Dispute {
  const { evidence, metadata } = call.params;
  const { id, status } = world.disputes.get(idOf(call));
  if (status === 'won' || status === 'lost') throw invalid('This dispute is already closed');
  const updated = world.disputes.change(id, (dispute) => {
    dispute.metadata = mergeMetadata(dispute.metadata, metadata);
    if (!evidence) return;
    dispute.evidence = { ...dispute.evidence, ...(evidence as Record<string, unknown>) };
    dispute.evidence_details.has_evidence = true;
    dispute.evidence_details.submission_count += 1;
    dispute.status = 'under_review';
  });
  const text = evidence?.uncategorized_text;
  if (text === 'winning_evidence') return decide(world, id, 'won');
  return text === 'losing_evidence' ? decide(world, id, 'lost') : updated;
}

function decide(world: World, id: string, status: 'lost' | 'won'): Dispute {
  const dispute = world.disputes.change(
    id,
    (dispute) => Object.assign(dispute, { status, is_charge_refundable: status === 'won' }),
    'charge.dispute.closed',
  );
  if (status === 'won') world.emit('charge.dispute.funds_reinstated', dispute);
  return dispute;
}

/** The dispute that forbids the refund of a charge, if any. */
export function barringDispute(world: World, { id }: Charge): Dispute | undefined {
  return world.disputes.all().find(({ charge, is_charge_refundable: refundable }) => charge === id && !refundable);
}

export function retrieveDispute(world: World, call: Call): Dispute {
  return world.disputes.get(idOf(call));
}

export function listDisputes(world: World, { params }: Call<Stripe.DisputeListParams>) {
  const { charge, payment_intent: intent, created } = params;
  const found = world.disputes
    .all()
    .filter((dispute) => charge === undefined || dispute.charge === charge)
    .filter((dispute) => intent === undefined || dispute.payment_intent === intent)
    .filter((dispute) => inRange(dispute.created, created));
  return pageOf(found, params, '/v1/disputes', world.disputes);
}
