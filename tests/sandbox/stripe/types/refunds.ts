import type { Metadata } from './metadata.ts';

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
