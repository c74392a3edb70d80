import type { Store } from '../store.ts';
import { createClock } from './clock.ts';
import { newId } from './ids.ts';
import { matches } from './objects/events.ts';
import { type Doc } from './table.ts';
import { apiVersion } from './version.ts';
import { openTables } from './tables.ts';
import type { EventObject, StripeEvent } from './types/events.ts';
import type { WebhookEndpoint } from './types/webhook-endpoints.ts';
import type { CollectionSettings, RequestInfo, Settings, World } from './types/world.ts';

type Enqueue = (event: StripeEvent, endpoints: WebhookEndpoint[]) => void;

const noRequest: RequestInfo = { id: null, idempotency_key: null, unknownCustomers: false };
const defaultCollection: CollectionSettings = { retries: 'two-weeks', afterRetries: 'cancel' };

export function createWorld(store: Store, settings: Settings, enqueue: Enqueue): World {
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
    enqueue(event, endpoints);
  }

  /** Disputes and invoice payments contain no customer. */
  function customerOf({ id, object, customer, charge, invoice }: EventObject): string {
    if (object === 'customer') return id;
    if (typeof customer === 'string') return customer;
    if (object === 'dispute') return tables.charges.get(String(charge)).customer ?? '';
    return object === 'invoice_payment' ? tables.invoices.get(String(invoice)).customer : '';
  }
}
