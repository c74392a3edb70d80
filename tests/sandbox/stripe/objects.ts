import type { Stripe } from 'stripe';
import type { List } from './table.ts';

/** The fields of an SDK object with related objects as ids, as Stripe stores and sends them. */
type ById<T> = {
  [Field in keyof T]: string extends T[Field] ? Exclude<T[Field], { id?: string }> : T[Field];
};
/** An object of the local Stripe: the SDK's, but for the fields that are stated here. */
type Stored<T, Own> = Omit<ById<T>, keyof Own> & Own;

export type Metadata = Stripe.Metadata;
export type Address = Record<
  'city' | 'country' | 'line1' | 'line2' | 'postal_code' | 'state',
  string | null
>;

export type WebhookEndpoint = Stored<Stripe.WebhookEndpoint, { _: { secret: string } }>;

export type EventObject = {
  id: string;
  object: string;
  charge?: unknown;
  source?: unknown;
  customer?: unknown;
  invoice?: unknown;
};

export type StripeEvent = Stored<
  Stripe.EventBase,
  {
    data: {
      object: EventObject;
      previous_attributes?: Record<string, unknown>;
    };
    type: string;
    /** The customer it concerns, whose events are sent in order. */
    _: { customer: string };
  }
>;

export type Customer = Stored<
  Stripe.Customer,
  {
    address: Address | null;
    deleted?: true;
    invoice_settings: Omit<Stripe.Customer.InvoiceSettings, 'default_payment_method'> & {
      default_payment_method: string | null;
    };
    name: string | null;
    next_invoice_sequence: number;
    phone: string | null;
    /** The phone number, which is kept after deletion, and what search finds until the index contains the last change. */
    _: { phone: string | null; indexed?: Indexed };
  }
>;

/** The version of a customer that search finds until the index contains the change made at `changedAt` (unix ms). */
export type Indexed = {
  changedAt: number;
  earlier: Pick<Customer, 'metadata'> | null;
};

export type Product = Stored<Stripe.Product, { default_price: string | null }>;

/** On the wire decimal amounts are texts. */
export type Price = Stored<
  Stripe.Price,
  {
    product: string;
    recurring: Stripe.Price.Recurring;
    unit_amount: number;
    unit_amount_decimal: string;
  }
>;

export type Plan = Stored<Stripe.Plan, { amount_decimal: string }>;

export type SubscriptionItem = Stored<
  Stripe.SubscriptionItem,
  { plan: object; price: Price; quantity: number }
>;

export type Subscription = Stored<
  Stripe.Subscription,
  {
    cancellation_details: Stripe.Subscription.CancellationDetails;
    discounts: string[];
    items: List<SubscriptionItem>;
    trial_settings: Stripe.Subscription.TrialSettings;
    _: {
      /** Prorations that the next invoice will contain. */
      pending: Line[];
      /** The invoice lines that billed the current period, by item. */
      billed: Record<string, Credited>;
      /** The latest invoice that is not a draft. */
      lastFinalized: string | null;
    };
  }
>;

export type Coupon = Stored<Stripe.Coupon, object>;

export type Discount = Stored<
  Stripe.Discount,
  {
    customer: string;
    source: {
      coupon: string;
      type: 'coupon';
    };
    subscription: string;
  }
>;

export type Phase = Stored<Stripe.SubscriptionSchedule.Phase, { items: PhaseItem[] }>;
export type PhaseItem = Stored<
  Stripe.SubscriptionSchedule.Phase.Item,
  { price: string; quantity: number }
>;

export type Schedule = Stored<
  Stripe.SubscriptionSchedule,
  {
    customer: string;
    phases: Phase[];
  }
>;

export type Invoice = Stored<
  Stripe.Invoice,
  {
    customer: string;
    lines: List<Line>;
    parent: { subscription_details: { subscription: string } } | null;
    status: Stripe.Invoice.Status;
    _: {
      payment: string | null;
      paymentIntent: string | null;
      /** When its first charge failed, and the number of retries so far. */
      firstFailure: number | null;
      retries: number;
      /** The payment method of the last attempt, if its bank wants the cardholder to authenticate. */
      unauthenticated: string | null;
    };
  }
>;

export type Period = { start: number; end: number };

/** The invoice lines that a credit refunds. */
export type Credited = { invoice: string; invoice_line_items: string[] };

type ItemDetails = ById<Stripe.InvoiceLineItem.Parent.SubscriptionItemDetails>;
export type Line = Stored<
  Stripe.InvoiceLineItem,
  {
    parent: { subscription_item_details: ItemDetails };
    pricing: object;
    quantity: number;
    quantity_decimal: string;
  }
>;

export type InvoicePayment = Stored<
  Stripe.InvoicePayment,
  { payment: { type: 'payment_intent'; payment_intent: string } }
>;

/** The invoice that it pays. */
export type PaymentIntent = Stored<
  Stripe.PaymentIntent,
  { last_payment_error: object | null; _: { invoice: string | null } }
>;

export type PaymentMethod = Stored<
  Stripe.PaymentMethod,
  {
    card: Stripe.PaymentMethod.Card;
    type: 'card';
    /** `declines` overrides the test card; `isSetUp` allows charges without the cardholder; `isUsed`: no second use. */
    _: {
      number: string;
      declines: boolean | null;
      isSetUp: boolean;
      isUsed: boolean;
    };
  }
>;

export type Charge = Stored<
  Stripe.Charge,
  {
    payment_intent: string;
    payment_method: string;
    payment_method_details: object;
  }
>;

/**
 * How a refund goes. `pends`: succeeds a day later; `fails`: succeeds, and the bank sends the money back a day later;
 * `asks`: waits for the customer's bank details, as refunds without a card do; `refused`: the payment method takes none.
 */
export type RefundOutcome = 'succeeds' | 'pends' | 'fails' | 'asks' | 'refused';

export type Refund = Stored<
  Stripe.Refund,
  {
    charge: string;
    failure_balance_transaction?: string;
    /** How it goes, and when the clock ends it, in unix seconds. */
    _: { outcome: RefundOutcome; endsAt: number | null };
  }
>;

/** Recorded: it names what moved the money, but no customer. */
export type BalanceTransaction = Stored<Stripe.BalanceTransaction, { source: string }>;

export type CreditNote = Stored<
  Stripe.CreditNote,
  {
    customer: string;
    invoice: string;
    lines: List<CreditNoteLine>;
    refunds: {
      amount_refunded: number;
      refund: string;
      type: 'refund';
    }[];
  }
>;

/** On the wire decimal amounts are texts. */
export type CreditNoteLine = Stored<Stripe.CreditNoteLineItem, { unit_amount_decimal: string }>;

/** Recorded: it names the charge and the payment intent, but no customer. */
export type Dispute = Stored<
  Stripe.Dispute,
  {
    charge: string;
    payment_method_details: object;
  }
>;

/** The subscription that waits for it. */
export type SetupIntent = Stored<Stripe.SetupIntent, { _: { subscription: string | null } }>;

export type CheckoutSession = Stored<
  Stripe.Checkout.Session,
  {
    success_url: string;
    /** The ordered items, and the metadata of the subscription to create. */
    _: {
      items: { price: string; quantity: number }[];
      metadata: Metadata;
    };
  }
>;

/** What a customer may do in the portal. */
export type Features = Omit<Stripe.BillingPortal.Configuration.Features, 'subscription_update'> & {
  subscription_update: Omit<
    Stripe.BillingPortal.Configuration.Features.SubscriptionUpdate,
    'products'
  > & {
    products: { product: string; prices: string[] }[];
  };
};

export type PortalConfiguration = Stored<
  Stripe.BillingPortal.Configuration,
  { features: Features }
>;

export type PortalFlow = Stripe.BillingPortal.Session.Flow;

export type PortalSession = Stored<Stripe.BillingPortal.Session, { configuration: string }>;
