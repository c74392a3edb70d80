import type { Store } from '../store.ts';
import { createClock } from './clock.ts';
import { newId } from './ids.ts';
import { matches } from './objects/events.ts';
import { type Doc } from './table.ts';
import { apiVersion } from './version.ts';
import { openTables } from './tables.ts';
import type { Tables } from './types/tables.ts';
import type { EventObject, StripeEvent } from './types/events.ts';
import type { WebhookEndpoint } from './types/webhook-endpoints.ts';
import type { CollectionSettings, RequestInfo, Settings, World } from './types/world.ts';

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
