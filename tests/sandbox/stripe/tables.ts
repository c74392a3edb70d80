import type { Store } from '../store.ts';
import { sessionDueAt } from './objects/checkout-sessions.ts';
import { invoiceDueAt } from './objects/invoices.ts';
import { intentDueAt } from './objects/payment-intents.ts';
import { scheduleDueAt } from './objects/schedules.ts';
import { subscriptionDueAt } from './objects/subscriptions.ts';
import { type Doc, type Emit, openTable, type TableOptions } from './table.ts';
import type { Tables } from './types/tables.ts';
import type { Charge } from './types/charges.ts';
import type { CheckoutSession } from './types/checkout-sessions.ts';
import type { Customer } from './types/customers.ts';
import type { Dispute } from './types/disputes.ts';
import type { StripeEvent } from './types/events.ts';
import type { InvoicePayment } from './types/invoice-payments.ts';
import type { Invoice } from './types/invoices.ts';
import type { PaymentIntent } from './types/payment-intents.ts';
import type { PaymentMethod } from './types/payment-methods.ts';
import type { PortalConfiguration } from './types/portal-configurations.ts';
import type { PortalSession } from './types/portal-sessions.ts';
import type { Price } from './types/prices.ts';
import type { Product } from './types/products.ts';
import type { Refund } from './types/refunds.ts';
import type { Schedule } from './types/schedules.ts';
import type { SetupIntent } from './types/setup-intents.ts';
import type { Subscription } from './types/subscriptions.ts';
import type { WebhookEndpoint } from './types/webhook-endpoints.ts';

/** Every table of the local Stripe. While `isHidden` returns true, no customer is found. */
export function openTables(store: Store, emit: Emit, isHidden: () => boolean): Tables {
  const open = <T extends Doc>(name: string, label: string, options: Omit<TableOptions<T>, 'name' | 'label'> = {}) =>
    openTable<T>(store, emit, { name, label, ...options });
  return {
    charges: open<Charge>('charges', 'charge'),
    checkoutSessions: open<CheckoutSession>('checkout_sessions', 'checkout.session', {
      pathParam: 'session',
      dueAt: sessionDueAt,
    }),
    customers: open<Customer>('customers', 'customer', { event: 'customer', isHidden }),
    disputes: open<Dispute>('disputes', 'dispute', { pathParam: 'dispute', event: 'charge.dispute' }),
    events: open<StripeEvent>('events', 'event'),
    invoicePayments: open<InvoicePayment>('invoice_payments', 'invoice_payment', { pathParam: 'invoice_payment' }),
    invoices: open<Invoice>('invoices', 'invoice', { event: 'invoice', dueAt: invoiceDueAt }),
    paymentIntents: open<PaymentIntent>('payment_intents', 'payment_intent', {
      pathParam: 'intent',
      event: 'payment_intent',
      dueAt: intentDueAt,
    }),
    paymentMethods: open<PaymentMethod>('payment_methods', 'PaymentMethod', { pathParam: 'payment_method' }),
    portalConfigurations: open<PortalConfiguration>('portal_configurations', 'configuration', {
      pathParam: 'configuration',
      event: 'billing_portal.configuration',
    }),
    portalSessions: open<PortalSession>('portal_sessions', 'billing_portal.session', {
      event: 'billing_portal.session',
    }),
    prices: open<Price>('prices', 'price', { pathParam: 'price', event: 'price' }),
    products: open<Product>('products', 'product', { event: 'product' }),
    refunds: open<Refund>('refunds', 'refund', { pathParam: 'refund', event: 'refund' }),
    schedules: open<Schedule>('schedules', 'subscription schedule', {
      pathParam: 'schedule',
      event: 'subscription_schedule',
      dueAt: scheduleDueAt,
    }),
    setupIntents: open<SetupIntent>('setup_intents', 'setupintent', { pathParam: 'intent', event: 'setup_intent' }),
    subscriptions: open<Subscription>('subscriptions', 'subscription', {
      event: 'customer.subscription',
      dueAt: subscriptionDueAt,
    }),
    webhookEndpoints: open<WebhookEndpoint>('webhook_endpoints', 'webhook endpoint', {
      pathParam: 'webhook_endpoint',
    }),
  };
}
