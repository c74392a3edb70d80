import type { List } from '../api/page.ts';
import type { Credited, Line } from '../invoices/invoice-types.ts';
import type { Metadata, Price } from '../merchant-types.ts';

type SubscriptionStatus =
  | 'active'
  | 'canceled'
  | 'incomplete'
  | 'incomplete_expired'
  | 'past_due'
  | 'paused'
  | 'trialing'
  | 'unpaid';

export type SubscriptionItem = {
  id: string;
  object: 'subscription_item';
  billed_until: number;
  billing_thresholds: null;
  created: number;
  current_period_start: number;
  current_period_end: number;
  current_trial: null;
  discounts: [];
  metadata: Metadata;
  plan: object;
  price: Price;
  quantity: number;
  subscription: string;
  tax_rates: [];
};

export type MissingMethod = 'cancel' | 'create_invoice' | 'pause';

export type Subscription = {
  id: string;
  object: 'subscription';
  billing_cycle_anchor: number;
  automatic_tax: { disabled_reason: null; enabled: boolean; liability: object | null };
  billing_mode: { type: string; flexible: { proration_discounts: string } | null; updated_at: number };
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  canceled_at: number | null;
  cancellation_details: {
    comment: string | null;
    feedback: string | null;
    feedback_option: null;
    reason: string | null;
  };
  created: number;
  currency: string;
  customer: string;
  default_payment_method: string | null;
  description: string | null;
  ended_at: number | null;
  items: List<SubscriptionItem>;
  latest_invoice: string | null;
  metadata: Metadata;
  pause_collection: unknown;
  payment_settings: unknown;
  pending_setup_intent: string | null;
  schedule: string | null;
  start_date: number;
  status: SubscriptionStatus;
  status_details?: unknown;
  trial_start: number | null;
  trial_end: number | null;
  trial_settings: { end_behavior: { billing_cycle_anchor: 'now'; missing_payment_method: MissingMethod } };
  _: {
    /** Prorations that the next invoice will contain. */
    pending: Line[];
    isTrialEndAnnounced: boolean;
    /** The invoice lines that billed the current period, by item. */
    billed: Record<string, Credited>;
    /** The latest invoice that is not a draft. */
    lastFinalized: string | null;
  };
};

export type PhaseItem = {
  billing_thresholds: null;
  discounts: [];
  metadata: Metadata;
  plan: string;
  price: string;
  quantity: number;
  tax_rates: [];
};

export type Phase = {
  currency: string;
  description: string | null;
  start_date: number;
  end_date: number;
  items: PhaseItem[];
  proration_behavior: string;
  trial_end: number | null;
  metadata: Metadata;
};

export type Schedule = {
  id: string;
  object: 'subscription_schedule';
  billing_mode: object;
  canceled_at: number | null;
  completed_at: number | null;
  created: number;
  current_phase: { start_date: number; end_date: number } | null;
  customer: string;
  default_settings: object;
  end_behavior: string;
  metadata: Metadata;
  phases: Phase[];
  released_at: number | null;
  released_subscription: string | null;
  status: 'active' | 'canceled' | 'completed' | 'released';
  subscription: string | null;
};
