import type { Metadata } from './metadata.ts';

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
