import type { Store } from '../store.ts';
import { type Clock, createClock } from './clock.ts';
import { newId } from './ids.ts';
import { type CheckoutSession, sessionDueAt } from './objects/checkout-sessions.ts';
import type { Customer } from './objects/customers.ts';
import { matches, type StripeEvent } from './objects/events.ts';
import type { InvoicePayment } from './objects/invoice-payments.ts';
import { type Invoice, invoiceDueAt } from './objects/invoices.ts';
import type { PaymentIntent } from './objects/payment-intents.ts';
import type { PaymentMethod } from './objects/payment-methods.ts';
import type { PortalConfiguration } from './objects/portal-configurations.ts';
import type { PortalSession } from './objects/portal-sessions.ts';
import type { Price } from './objects/prices.ts';
import type { Product } from './objects/products.ts';
import { type Schedule, scheduleDueAt } from './objects/schedules.ts';
import type { SetupIntent } from './objects/setup-intents.ts';
import { type Subscription, subscriptionDueAt } from './objects/subscriptions.ts';
import type { WebhookEndpoint } from './objects/webhook-endpoints.ts';
import { type Emit, openTable, type Table } from './table.ts';
import { apiVersion } from './version.ts';

export type Settings = {
  /** Where the hosted pages answer. */
  sandboxUrl: string;
  /** The merchant's site; the portal's last resort to return to. */
  siteUrl: string;
  secretKey: string;
  /** Every endpoint's secret. Only here: the Worker reads its secret from a file that stands before any endpoint does. */
  webhookSecret?: string;
  /** What becomes of a subscription whose card failed to the end. */
  afterRetries: 'cancel' | 'unpaid';
  businessName: string;
};
export type RequestInfo = { id: string | null; idempotency_key: string | null };

/** Everything that Stripe holds, and the time it thinks it is. */
export type World = Tables & {
  settings: Settings;
  store: Store;
  clock: Clock;
  now: () => number;
  emit: Emit;
  /** The request that causes the present events; nulls when time does. */
  request: RequestInfo;
};

type Tables = ReturnType<typeof openTables>;
type Queue = (event: StripeEvent, endpoints: WebhookEndpoint[]) => void;

function openTables(store: Store, emit: Emit) {
  const open = <T extends { id: string; object: string }>(
    name: string,
    label: string,
    event?: string,
    dueAt?: (doc: T) => number | null,
  ): Table<T> => openTable(store, emit, { name, label, ...(event && { event }), ...(dueAt && { dueAt }) });
  return {
    checkoutSessions: open<CheckoutSession>('checkout_sessions', 'checkout.session', undefined, sessionDueAt),
    customers: open<Customer>('customers', 'customer', 'customer'),
    events: open<StripeEvent>('events', 'event'),
    invoicePayments: open<InvoicePayment>('invoice_payments', 'invoice_payment'),
    invoices: open<Invoice>('invoices', 'invoice', 'invoice', invoiceDueAt),
    paymentIntents: open<PaymentIntent>('payment_intents', 'payment_intent', 'payment_intent'),
    paymentMethods: open<PaymentMethod>('payment_methods', 'PaymentMethod'),
    portalConfigurations: open<PortalConfiguration>(
      'portal_configurations',
      'configuration',
      'billing_portal.configuration',
    ),
    portalSessions: open<PortalSession>('portal_sessions', 'billing_portal.session', 'billing_portal.session'),
    prices: open<Price>('prices', 'price', 'price'),
    products: open<Product>('products', 'product', 'product'),
    schedules: open<Schedule>('schedules', 'subscription schedule', 'subscription_schedule', scheduleDueAt),
    setupIntents: open<SetupIntent>('setup_intents', 'setupintent', 'setup_intent'),
    subscriptions: open<Subscription>('subscriptions', 'subscription', 'customer.subscription', subscriptionDueAt),
    webhookEndpoints: open<WebhookEndpoint>('webhook_endpoints', 'webhook endpoint'),
  };
}

export function createWorld(store: Store, settings: Settings, queue: Queue): World {
  const clock = createClock(store);
  const tables = openTables(store, emit);
  const world: World = {
    ...tables,
    settings,
    store,
    clock,
    now: () => clock.now(),
    emit,
    request: { id: null, idempotency_key: null },
  };
  return world;

  function emit(type: string, doc: { id: string; object: string }, previous?: Record<string, unknown>): void {
    const { _, ...object } = doc as typeof doc & { _?: unknown };
    const endpoints = tables.webhookEndpoints
      .all()
      .filter(
        ({ status, enabled_events: events }) => status === 'enabled' && events.some((name) => matches(type, name)),
      );
    const event: StripeEvent = {
      id: newId('evt_1'),
      object: 'event',
      api_version: apiVersion,
      created: clock.now(),
      data: { object, ...(previous && { previous_attributes: previous }) },
      livemode: false,
      pending_webhooks: endpoints.length,
      request: { ...world.request },
      type,
    };
    tables.events.insert(event);
    queue(event, endpoints);
  }
}
