import type { Metadata } from './metadata.ts';

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
