import type { Metadata } from './metadata.ts';
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
