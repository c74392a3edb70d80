import type { Metadata } from './metadata.ts';

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
