import type { Metadata } from '../merchant-types.ts';

export type PaymentIntent = {
  id: string;
  object: 'payment_intent';
  amount: number;
  amount_received: number;
  canceled_at: number | null;
  cancellation_reason: string | null;
  client_secret: string;
  created: number;
  currency: string;
  customer: string | null;
  description: string | null;
  last_payment_error: unknown;
  latest_charge: string | null;
  metadata: Metadata;
  next_action: unknown;
  payment_method: string | null;
  processing: unknown;
  setup_future_usage: string | null;
  status:
    | 'canceled'
    | 'processing'
    | 'requires_action'
    | 'requires_confirmation'
    | 'requires_payment_method'
    | 'succeeded';
  /** The invoice that it pays, and when a bank debit settles. */
  _: { invoice: string | null; settlesAt: number | null };
};

type CardDetails = { brand: string; last4: string; exp_month: number; exp_year: number };

export type PaymentMethod = {
  id: string;
  object: 'payment_method';
  allow_redisplay: string;
  billing_details: unknown;
  card?: CardDetails;
  us_bank_account?: object;
  created: number;
  customer: string | null;
  metadata: Metadata;
  type: 'card' | 'us_bank_account';
  /** `declines` overrides the test card; `isSetUp` allows charges without the cardholder; `isUsed`: no second use. */
  _: { number: string; declines: boolean | null; isSetUp: boolean; isUsed: boolean };
};

export type Charge = {
  id: string;
  object: 'charge';
  amount: number;
  amount_captured: number;
  amount_refunded: number;
  created: number;
  currency: string;
  customer: string | null;
  description: string | null;
  disputed: boolean;
  metadata: Metadata;
  paid: boolean;
  payment_intent: string;
  payment_method: string;
  receipt_email: string | null;
  refunded: boolean;
  status: 'failed' | 'pending' | 'succeeded';
};

export type Refund = {
  id: string;
  object: 'refund';
  amount: number;
  charge: string;
  created: number;
  currency: string;
  customer: string | null;
  metadata: Metadata;
  payment_intent: string;
  payment_method: string;
  reason: string | null;
  status: 'succeeded';
};

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

export type SetupIntent = {
  id: string;
  object: 'setup_intent';
  cancellation_reason: string | null;
  client_secret: string;
  created: number;
  customer: string | null;
  description: string | null;
  last_setup_error: unknown;
  latest_attempt: string | null;
  metadata: Metadata;
  next_action: unknown;
  payment_method: string | null;
  status: 'requires_payment_method' | 'requires_confirmation' | 'requires_action' | 'succeeded' | 'canceled';
  /** The subscription that waits for it. */
  _: { subscription: string | null };
};
