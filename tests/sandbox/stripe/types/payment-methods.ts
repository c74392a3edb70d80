import type { Metadata } from './metadata.ts';

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
