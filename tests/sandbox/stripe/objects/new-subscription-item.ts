import { newId } from '../ids.ts';
import type { Metadata } from '../types/metadata.ts';
import type { Price } from '../types/prices.ts';
import type { SubscriptionItem } from '../types/subscriptions.ts';
import { planOf } from './plans.ts';

type NewItem = {
  subscription: string;
  price: Price;
  quantity?: number;
  metadata?: Metadata;
  period: { start: number; end: number };
  created: number;
};

export function newSubscriptionItem({
  subscription,
  price,
  quantity = 1,
  metadata,
  period,
  created,
}: NewItem): SubscriptionItem {
  return {
    id: newId('si_', 14),
    object: 'subscription_item',
    billed_until: period.end,
    billing_thresholds: null,
    created,
    current_period_start: period.start,
    current_period_end: period.end,
    current_trial: null,
    discounts: [],
    metadata: metadata ?? {},
    plan: planOf(price),
    price,
    quantity,
    subscription,
    tax_rates: [],
  };
}
