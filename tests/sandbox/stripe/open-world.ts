import type { Store } from './store.ts';
import { createClock } from './clock.ts';
import { type Doc, type Kind, newId, openTable } from './table.ts';
import { isSubscribed } from './webhooks.ts';
import { apiVersion, findById, kinds, type Settings, type Tables, type World } from './world.ts';
import type { EventObject, StripeEvent, WebhookEndpoint } from './objects.ts';
import { sessionDueAt } from './hosted/checkout.ts';
import { invoiceDueAt } from './invoices/lines.ts';
import { refundDueAt } from './payments/refunds.ts';
import { scheduleDueAt, subscriptionDueAt } from './subscriptions/subscriptions.ts';

type Enqueue = (event: StripeEvent, endpoints: WebhookEndpoint[]) => void;

/** When the clock changes an object next. */
const dueAt = {
  checkoutSessions: sessionDueAt,
  invoices: invoiceDueAt,
  refunds: refundDueAt,
  schedules: scheduleDueAt,
  subscriptions: subscriptionDueAt,
};

export function createWorld(store: Store, settings: Settings, enqueue: Enqueue): World {
  const clock = createClock(store);
  const isHidden = (name: string) => name === 'customers' && world.unknownCustomers;
  const open = (name: string, kind: object) =>
    openTable({ store, emit, isHidden }, name, {
      ...kind,
      dueAt: dueAt[name as 'invoices'],
    } as Kind<Doc>);
  const entries = Object.entries(kinds).map(([name, kind]) => [name, open(name, kind)]);
  const tables = Object.fromEntries(entries) as unknown as Tables;
  const collection: World['collection'] = (customer) => ({
    retries: 'two-weeks',
    afterRetries: 'cancel',
    ...store.get<object>('stripe/meta', 'collection:'),
    ...store.get<object>('stripe/meta', `collection:${customer}`),
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
    setCollection(changes, customer) {
      store.put('stripe/meta', `collection:${customer}`, {
        ...collection(customer),
        ...changes,
      });
      return collection(customer);
    },
    unknownCustomers: false,
  };
  return world;

  function emit(type: string, doc: Doc, previous?: Record<string, unknown>): void {
    const { _, ...object } = doc;
    const endpoints = tables.webhookEndpoints
      .all()
      .filter((endpoint) => isSubscribed(endpoint, type));
    const customer = customerOf(object);
    const event = tables.events.insert({
      id: newId('evt_1'),
      object: 'event',
      api_version: apiVersion,
      created: clock.now(customer),
      data: {
        object,
        ...(previous && { previous_attributes: previous }),
      },
      pending_webhooks: endpoints.length,
      request: { id: null, idempotency_key: null },
      type,
      _: { customer },
    });
    enqueue(event, endpoints);
  }

  function ownerOf(id: string): string {
    if (id.startsWith('cus_')) return id;
    const object = findById(tables, id);
    return object ? customerOf(object) : '';
  }

  /** Disputes, invoice payments and balance transactions contain no customer. */
  function customerOf({ id, object, customer, charge, invoice, source }: EventObject): string {
    if (object === 'customer') return id;
    return (
      [customer, charge, invoice, source]
        .map((each) => (typeof each === 'string' ? ownerOf(each) : ''))
        .find(Boolean) ?? ''
    );
  }
}
