export type WebhookEndpoint = {
  id: string;
  object: 'webhook_endpoint';
  api_version: string | null;
  application: null;
  created: number;
  description: string | null;
  enabled_events: string[];
  livemode: false;
  metadata: Metadata;
  status: 'enabled' | 'disabled';
  url: string;
  _: { secret: string };
};

export type EventObject = { id: string; object: string; charge?: unknown; customer?: unknown; invoice?: unknown };

export type StripeEvent = {
  id: string;
  object: 'event';
  api_version: string;
  created: number;
  data: { object: EventObject; previous_attributes?: Record<string, unknown> };
  livemode: false;
  pending_webhooks: number;
  request: { id: string | null; idempotency_key: string | null };
  type: string;
  /** The customer it concerns, whose events are sent in order. */
  _: { customer: string };
};

export type Customer = {
  id: string;
  object: 'customer';
  deleted?: true;
  created: number;
  email: string | null;
  phone: string | null;
  name: string | null;
  description: string | null;
  address: Address | null;
  /** In cents; a negative balance is the customer's credit. */
  balance: number;
  currency: string | null;
  delinquent: boolean;
  invoice_prefix: string;
  next_invoice_sequence: number;
  invoice_settings: {
    default_payment_method: string | null;
    custom_fields: null;
    footer: string | null;
    rendering_options: null;
  };
  metadata: Metadata;
  /** The phone number, which is kept after deletion, and what search finds until the index contains the last change. */
  _: { phone: string | null; indexed?: Indexed };
};

/** The version of a customer that search finds until the index contains the change made at `changedAt` (unix ms). */
export type Indexed = { changedAt: number; earlier: Searchable | null };

export type Searchable = Pick<Customer, 'created' | 'email' | 'metadata' | 'name' | 'phone'>;

export type Address = Record<'city' | 'country' | 'line1' | 'line2' | 'postal_code' | 'state', string | null>;

export type Metadata = Record<string, string>;

export type Product = {
  id: string;
  object: 'product';
  active: boolean;
  created: number;
  updated: number;
  name: string;
  description: string | null;
  default_price: string | null;
  images: string[];
  marketing_features: object[];
  metadata: Metadata;
  statement_descriptor: string | null;
  tax_code: string | null;
  unit_label: string | null;
  url: string | null;
};

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
