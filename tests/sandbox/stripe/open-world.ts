import type { Store } from '../store.ts';
import { createClock } from './clock.ts';
import { newId, type Doc, type Emit, openTable, type TableOptions } from './table.ts';
import { matches } from './webhooks.ts';
import {
  apiVersion,
  type Tables,
  type CollectionSettings,
  type RequestInfo,
  type Settings,
  type World,
} from './world.ts';
import type { EventObject, StripeEvent, WebhookEndpoint } from './objects.ts';
import { sessionDueAt } from './hosted/checkout-sessions.ts';
import { invoiceDueAt } from './invoices/lines.ts';
import { scheduleDueAt } from './subscriptions/schedules.ts';
import { subscriptionDueAt } from './subscriptions/subscriptions.ts';

type Enqueue = (event: StripeEvent, endpoints: WebhookEndpoint[]) => void;

/** The tables of objects that belong to a customer, by the beginning of their ids. */
const owned = [
  ['sub_sched_', 'schedules'],
  ['sub_', 'subscriptions'],
  ['in_', 'invoices'],
  ['inpay_', 'invoicePayments'],
  ['seti_', 'setupIntents'],
  ['pi_', 'paymentIntents'],
  ['pm_', 'paymentMethods'],
  ['ch_', 'charges'],
  ['re_', 'refunds'],
  ['du_', 'disputes'],
  ['cs_', 'checkoutSessions'],
] as const satisfies [prefix: string, keyof Tables][];

const noRequest: RequestInfo = { id: null, idempotency_key: null, unknownCustomers: false };
const defaultCollection: CollectionSettings = { retries: 'two-weeks', afterRetries: 'cancel' };

export function createWorld(store: Store, settings: Settings, enqueue: Enqueue): World {
  const clock = createClock(store);
  const tables = openTables(store, emit, () => world.request.unknownCustomers);
  const collection = (customer = '') => ({
    ...defaultCollection,
    ...settings.collection,
    ...store.get<CollectionSettings>('stripe/meta', 'collection'),
    ...store.get<CollectionSettings>('stripe/meta', `collection:${customer}`),
  });
  const world: World = {
    ...tables,
    settings,
    store,
    clock,
    now: () => clock.now(world.customer),
    customer: '',
    emit,
    ownerOf,
    collection,
    setCollection(changes, customer = '') {
      const name = customer === '' ? 'collection' : `collection:${customer}`;
      store.put('stripe/meta', name, { ...collection(customer), ...changes });
      return collection(customer);
    },
    request: noRequest,
  };
  return world;

  function emit(type: string, doc: Doc, previous?: Record<string, unknown>): void {
    const { _, ...object } = doc;
    const endpoints = tables.webhookEndpoints
      .all()
      .filter(
        ({ status, enabled_events: events }) => status === 'enabled' && events.some((name) => matches(type, name)),
      );
    const customer = customerOf(object);
    const event: StripeEvent = {
      id: newId('evt_1'),
      object: 'event',
      api_version: apiVersion,
      created: clock.now(customer),
      data: { object, ...(previous && { previous_attributes: previous }) },
      livemode: false,
      pending_webhooks: endpoints.length,
      request: { id: world.request.id, idempotency_key: world.request.idempotency_key },
      type,
      _: { customer },
    };
    tables.events.insert(event);
    enqueue(event, endpoints);
  }

  function ownerOf(id: string): string {
    if (id.startsWith('cus_')) return id;
    const [, table] = owned.find(([prefix]) => id.startsWith(prefix)) ?? [];
    const object = table && tables[table].find(id);
    return object ? customerOf(object) : '';
  }

  /** Disputes, refunds and invoice payments contain no customer. */
  function customerOf({ id, object, customer, charge, invoice }: EventObject): string {
    if (object === 'customer') return id;
    return (
      [customer, charge, invoice].map((each) => (typeof each === 'string' ? ownerOf(each) : '')).find(Boolean) ?? ''
    );
  }
}

/** Every table of the local Stripe. While `isHidden` returns true, no customer is found. */
function openTables(store: Store, emit: Emit, isHidden: () => boolean): Tables {
  const open = <T extends Doc>(name: string, label: string, options: Omit<TableOptions<T>, 'name' | 'label'> = {}) =>
    openTable<T>(store, emit, { name, label, ...options });
  return {
    charges: open('charges', 'charge'),
    checkoutSessions: open('checkout_sessions', 'checkout.session', {
      pathParam: 'session',
      dueAt: sessionDueAt,
    }),
    customers: open('customers', 'customer', { event: 'customer', isHidden }),
    disputes: open('disputes', 'dispute', { pathParam: 'dispute', event: 'charge.dispute' }),
    events: open('events', 'event'),
    invoicePayments: open('invoice_payments', 'invoice_payment', { pathParam: 'invoice_payment' }),
    invoices: open('invoices', 'invoice', { event: 'invoice', dueAt: invoiceDueAt }),
    paymentIntents: open('payment_intents', 'payment_intent', {
      pathParam: 'intent',
      event: 'payment_intent',
    }),
    paymentMethods: open('payment_methods', 'PaymentMethod', { pathParam: 'payment_method' }),
    portalConfigurations: open('portal_configurations', 'configuration', {
      pathParam: 'configuration',
      event: 'billing_portal.configuration',
    }),
    portalSessions: open('portal_sessions', 'billing_portal.session', {
      event: 'billing_portal.session',
    }),
    prices: open('prices', 'price', { pathParam: 'price', event: 'price' }),
    products: open('products', 'product', { event: 'product' }),
    refunds: open('refunds', 'refund', { pathParam: 'refund', event: 'refund' }),
    schedules: open('schedules', 'subscription schedule', {
      pathParam: 'schedule',
      event: 'subscription_schedule',
      dueAt: scheduleDueAt,
    }),
    setupIntents: open('setup_intents', 'setupintent', { pathParam: 'intent', event: 'setup_intent' }),
    subscriptions: open('subscriptions', 'subscription', {
      event: 'customer.subscription',
      dueAt: subscriptionDueAt,
    }),
    webhookEndpoints: open('webhook_endpoints', 'webhook endpoint', {
      pathParam: 'webhook_endpoint',
    }),
  };
}
