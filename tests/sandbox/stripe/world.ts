import type { Store } from '../store.ts';
import { type Clock, createClock } from './clock.ts';
import { newId } from './ids.ts';
import { type EventObject, matches, type StripeEvent } from './objects/events.ts';
import type { WebhookEndpoint } from './objects/webhook-endpoints.ts';
import { type Doc, type Emit } from './table.ts';
import { apiVersion } from './version.ts';
import { openTables, type Tables } from './tables.ts';

export type Settings = {
  /** Where the hosted pages answer. */
  sandboxUrl: string;
  /** The merchant's site; the portal's last resort to return to. */
  siteUrl: string;
  secretKey: string;
  /** Every endpoint's secret. Only here: the Worker reads its secret from a file that stands before any endpoint does. */
  webhookSecret?: string;
  businessName: string;
  /** Where an account's settings differ from Stripe's defaults. */
  collection?: Partial<CollectionSettings>;
};
/** How the account collects failed renewals. */
export type CollectionSettings = {
  retries: 'two-weeks' | 'five-days';
  /** What becomes of a subscription after the last retry. */
  afterRetries: 'cancel' | 'unpaid' | 'past_due';
};
export type RequestInfo = {
  id: string | null;
  idempotency_key: string | null;
  /** The request is answered as if its key were another account's: no customer is known. */
  unknownCustomers: boolean;
};

/** Everything that Stripe holds, and its time. */
export type World = Tables & {
  settings: Settings;
  store: Store;
  clock: Clock;
  now: () => number;
  emit: Emit;
  collection(): CollectionSettings;
  setCollection(changes: Partial<CollectionSettings>): CollectionSettings;
  /** The request that causes the present events; nulls when time does. */
  request: RequestInfo;
};

type Queue = (event: StripeEvent, endpoints: WebhookEndpoint[]) => void;

const noRequest: RequestInfo = { id: null, idempotency_key: null, unknownCustomers: false };
const defaultCollection: CollectionSettings = { retries: 'two-weeks', afterRetries: 'cancel' };

export function createWorld(store: Store, settings: Settings, queue: Queue): World {
  const clock = createClock(store);
  const tables = openTables(store, emit, () => world.request.unknownCustomers);
  const collection = () => ({
    ...defaultCollection,
    ...settings.collection,
    ...store.get<CollectionSettings>('stripe/meta', 'collection'),
  });
  const world: World = {
    ...tables,
    settings,
    store,
    clock,
    now: () => clock.now(),
    emit,
    collection,
    setCollection(changes) {
      store.put('stripe/meta', 'collection', { ...collection(), ...changes });
      return collection();
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
    const event: StripeEvent = {
      id: newId('evt_1'),
      object: 'event',
      api_version: apiVersion,
      created: clock.now(),
      data: { object, ...(previous && { previous_attributes: previous }) },
      livemode: false,
      pending_webhooks: endpoints.length,
      request: { id: world.request.id, idempotency_key: world.request.idempotency_key },
      type,
      _: { customer: customerOf(object) },
    };
    tables.events.insert(event);
    queue(event, endpoints);
  }

  /** Disputes and invoice payments name no customer themselves. */
  function customerOf({ id, object, customer, charge, invoice }: EventObject): string {
    if (object === 'customer') return id;
    if (typeof customer === 'string') return customer;
    if (object === 'dispute') return tables.charges.get(String(charge)).customer ?? '';
    return object === 'invoice_payment' ? tables.invoices.get(String(invoice)).customer : '';
  }
}
