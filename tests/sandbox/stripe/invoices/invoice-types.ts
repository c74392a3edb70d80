import type { List } from '../api/page.ts';
import type { Metadata } from '../merchant-types.ts';

export type BillingReason = 'manual' | 'subscription_create' | 'subscription_cycle' | 'subscription_update';

type InvoiceStatus = 'draft' | 'open' | 'paid' | 'uncollectible' | 'void';

export type Invoice = {
  id: string;
  object: 'invoice';
  amount_due: number;
  amount_paid: number;
  amount_remaining: number;
  attempt_count: number;
  attempted: boolean;
  auto_advance: boolean;
  automatically_finalizes_at: number | null;
  billing_reason: BillingReason;
  created: number;
  currency: string;
  customer: string;
  description: string | null;
  effective_at: number | null;
  ending_balance: number | null;
  hosted_invoice_url: string | null;
  invoice_pdf: string | null;
  lines: List<Line>;
  metadata: Metadata;
  next_payment_attempt: number | null;
  number: string | null;
  parent: {
    type: 'subscription_details';
    quote_details: null;
    subscription_details: { metadata: Metadata; subscription: string };
  } | null;
  period_start: number;
  period_end: number;
  starting_balance: number;
  status: InvoiceStatus;
  status_details?: unknown;
  status_transitions: {
    finalized_at: number | null;
    marked_uncollectible_at: number | null;
    paid_at: number | null;
    voided_at: number | null;
  };
  subtotal: number;
  total: number;
  webhooks_delivered_at: number | null;
  _: {
    payment: string | null;
    paymentIntent: string | null;
    /** When its first charge failed, and the number of retries so far. */
    firstFailure: number | null;
    retries: number;
    /** The payment method that the last attempt charged, and why it failed. */
    lastMethod: string | null;
    lastDecline: string | null;
  };
};

export type Period = { start: number; end: number };

/** The invoice lines that a credit refunds. */
export type Credited = { invoice: string; invoice_line_items: string[] };

type ItemDetails = {
  invoice_item: string | null;
  proration: boolean;
  proration_details: { credited_items: Credited | null };
  subscription: string;
  subscription_item: string;
};

export type Line = {
  id: string;
  object: 'line_item';
  amount: number;
  currency: string;
  description: string;
  discountable: boolean;
  invoice: string | null;
  parent: { type: string; invoice_item_details: null; subscription_item_details: ItemDetails };
  period: Period;
  pricing: object;
  quantity: number;
  quantity_decimal: string;
  subscription: string;
  subtotal: number;
};

export type InvoicePayment = {
  id: string;
  object: 'invoice_payment';
  amount_paid: number | null;
  amount_requested: number;
  created: number;
  currency: string;
  invoice: string;
  is_default: true;
  livemode: false;
  payment: { type: 'payment_intent'; payment_intent: string };
  status: 'open' | 'paid' | 'canceled';
  status_transitions: { canceled_at: number | null; paid_at: number | null };
};
