import type { Metadata } from '../merchant-types.ts';
import type { Stripe } from 'stripe';

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
