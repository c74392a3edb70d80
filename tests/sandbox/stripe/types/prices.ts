import type { Metadata } from './metadata.ts';

export type Price = {
  id: string;
  object: 'price';
  active: boolean;
  created: number;
  currency: string;
  lookup_key: string | null;
  metadata: Metadata;
  nickname: string | null;
  product: string;
  recurring: {
    interval: string;
    interval_count: number;
    meter: null;
    trial_period_days: null;
    usage_type: string;
  } | null;
  tax_behavior: string;
  type: 'one_time' | 'recurring';
  unit_amount: number;
  unit_amount_decimal: string;
};
