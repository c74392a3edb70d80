import type { Metadata } from './metadata.ts';

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
