import type { List } from './table.ts';
import type { Stripe } from 'stripe';

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

export type PaymentIntent = {
  id: string;
  object: 'payment_intent';
  amount: number;
  amount_received: number;
  canceled_at: number | null;
  cancellation_reason: string | null;
  client_secret: string;
  created: number;
  currency: string;
  customer: string | null;
  description: string | null;
  last_payment_error: unknown;
  latest_charge: string | null;
  metadata: Metadata;
  next_action: unknown;
  payment_method: string | null;
  processing: unknown;
  setup_future_usage: string | null;
  status:
    | 'canceled'
    | 'processing'
    | 'requires_action'
    | 'requires_confirmation'
    | 'requires_payment_method'
    | 'succeeded';
  /** The invoice that it pays, and when a bank debit settles. */
  _: { invoice: string | null; settlesAt: number | null };
};

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

/** Recorded: it names the charge and the payment intent, but no customer. */
export type Dispute = {
  id: string;
  object: 'dispute';
  amount: number;
  balance_transactions: [];
  charge: string;
  created: number;
  currency: string;
  enhanced_eligibility_types: [];
  evidence: Record<string, unknown>;
  evidence_details: {
    due_by: number;
    enhanced_eligibility: object;
    has_evidence: boolean;
    past_due: boolean;
    submission_count: number;
  };
  is_charge_refundable: boolean;
  livemode: false;
  metadata: Metadata;
  payment_intent: string;
  payment_method_details: object;
  reason: string;
  status: 'lost' | 'needs_response' | 'under_review' | 'won';
};

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

export type CheckoutSession = {
  id: string;
  object: 'checkout.session';
  amount_total: number | null;
  cancel_url: string | null;
  client_reference_id: string | null;
  created: number;
  currency: string | null;
  customer: string | null;
  customer_details: unknown;
  customer_email: string | null;
  expires_at: number;
  invoice: string | null;
  locale: string | null;
  metadata: Metadata;
  mode: 'setup' | 'subscription';
  payment_method_types: string[];
  payment_status: 'no_payment_required' | 'paid' | 'unpaid';
  setup_intent: string | null;
  status: 'complete' | 'expired' | 'open';
  subscription: string | null;
  success_url: string;
  url: string | null;
  /** The ordered items, and the data of the subscription or setup intent to create. */
  _: {
    lineItems: { id: string; price: string; quantity: number }[];
    subscriptionData: Stripe.Checkout.SessionCreateParams.SubscriptionData;
    setupIntentData: Stripe.Checkout.SessionCreateParams.SetupIntentData;
  };
};

export type PortalConfiguration = {
  id: string;
  object: 'billing_portal.configuration';
  active: boolean;
  application: null;
  business_profile: { headline: string | null; privacy_policy_url: string | null; terms_of_service_url: string | null };
  created: number;
  default_return_url: string | null;
  features: Features;
  is_default: boolean;
  livemode: false;
  login_page: { enabled: boolean; url: string | null };
  metadata: Metadata;
  name: string | null;
  updated: number;
};

type PortalProduct = {
  product: string;
  prices: string[];
  adjustable_quantity?: { enabled: boolean; maximum: number | null; minimum: number };
};

/** What a customer may do in the portal. */
export type Features = {
  customer_update: { allowed_updates: string[]; enabled: boolean };
  invoice_history: { enabled: boolean };
  payment_method_update: { enabled: boolean; payment_method_configuration: string | null };
  subscription_cancel: {
    cancellation_reason: { enabled: boolean; feedback_options: null; options: string[] };
    enabled: boolean;
    mode: 'at_period_end' | 'immediately';
    proration_behavior: string;
  };
  subscription_pause: { duration: { interval_options: []; type: string }; enabled: boolean };
  subscription_update: {
    billing_cycle_anchor: string | null;
    default_allowed_updates: string[];
    enabled: boolean;
    products: PortalProduct[];
    proration_behavior: string;
    schedule_at_period_end: { conditions: { type: string }[] };
    trial_update_behavior: 'continue_trial' | 'end_trial';
  };
};

export type PortalFlow = {
  type: string;
  after_completion: {
    type: string;
    redirect: { return_url: string } | null;
    hosted_confirmation: { custom_message: string | null } | null;
  };
  customer_update: null;
  subscription_cancel: { subscription: string; retention: null } | null;
  subscription_pause: null;
  subscription_update: { subscription: string } | null;
  subscription_update_confirm: {
    subscription: string;
    items: { id: string; price: string; quantity: number }[];
    discounts: null;
  } | null;
};

export type PortalSession = {
  id: string;
  object: 'billing_portal.session';
  configuration: string;
  created: number;
  customer: string;
  flow: PortalFlow | null;
  locale: string | null;
  return_url: string | null;
  url: string;
};
