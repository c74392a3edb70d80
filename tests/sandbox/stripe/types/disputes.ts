import type { Metadata } from './metadata.ts';

/** Recorded: it names the charge and the payment intent, but no customer. */
export type Dispute = {
  id: string;
  object: 'dispute';
  amount: number;
  balance_transactions: [];
  charge: string;
  created: number;
  currency: string;
  enhanced_eligibility_types: [];
  evidence: Record<string, unknown>;
  evidence_details: {
    due_by: number;
    enhanced_eligibility: object;
    has_evidence: boolean;
    past_due: boolean;
    submission_count: number;
  };
  is_charge_refundable: boolean;
  livemode: false;
  metadata: Metadata;
  payment_intent: string;
  payment_method_details: object;
  reason: string;
  status: 'lost' | 'needs_response' | 'under_review' | 'won';
};
