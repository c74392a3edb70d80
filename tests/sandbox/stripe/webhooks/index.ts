import type { Store } from '../../store.ts';
import { matches } from '../objects/events.ts';
import { createLanes } from './lanes.ts';
import { postEvent } from './post-event.ts';
import type { StripeEvent } from '../types/events.ts';
import type { WebhookEndpoint } from '../types/webhook-endpoints.ts';

/** An event that an endpoint has yet to take. */
type Delivery = { id: string; event: string; endpoint: string; lane: string; attempts: number; notBefore: number };
export type Mode = 'deliver' | 'hold';

const collection = 'stripe/deliveries';
/** Seconds between tries; after the last one Stripe gives the event up. */
const delays = [1, 2, 5, 10, 20, 30, 60, 60, 120, 300];

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Stripe's side of webhooks: signed, in order for each customer, again until taken, across restarts. */
export function createWebhooks(store: Store) {
  const lanes = createLanes();
  const fresh: string[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let mode: Mode = store.get<{ mode: Mode }>('stripe/meta', 'webhooks')?.mode ?? 'deliver';
  let isClosed = false;

  /** Remembers who must hear of an event, in the transaction that made it. */
  function queue(event: StripeEvent, endpoints: WebhookEndpoint[]): void {
    for (const endpoint of endpoints) {
      const id = `${event.id}:${endpoint.id}`;
      const delivery = { id, event: event.id, endpoint: endpoint.id, lane: laneOf(event), attempts: 0, notBefore: 0 };
      store.put(collection, id, delivery satisfies Delivery);
      fresh.push(id);
    }
  }

  /** Sends what was queued, once its transaction is through. */
  function flush(): void {
    for (const id of fresh.splice(0)) {
      const delivery = store.get<Delivery>(collection, id);
      if (delivery && mode === 'deliver') start(delivery);
    }
  }

  function start({ id, lane, notBefore }: Delivery): void {
    if (isClosed) return;
    const wait = notBefore - Date.now();
    if (wait <= 0) {
      void lanes.add(lane, () => attempt(id));
      return;
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      void lanes.add(lane, () => attempt(id));
    }, wait);
    timers.add(timer.unref());
  }

  async function attempt(id: string): Promise<void> {
    const delivery = store.get<Delivery>(collection, id);
    if (!delivery || mode === 'hold' || isClosed) return;
    const isTaken = await post(delivery.event, delivery.endpoint);
    if (isClosed) return;
    const delay = delays[delivery.attempts];
    if (isTaken || delay === undefined) return store.delete(collection, id);
    const next = { ...delivery, attempts: delivery.attempts + 1, notBefore: Date.now() + delay * 1000 };
    store.put(collection, id, next satisfies Delivery);
    start(next);
  }

  async function post(eventId: string, endpointId: string): Promise<boolean> {
    const event = store.get<StripeEvent>('stripe/events', eventId);
    const endpoint = store.get<WebhookEndpoint>('stripe/webhook_endpoints', endpointId);
    if (!event || endpoint?.status !== 'enabled') return true;
    const { _, ...sent } = event;
    return postEvent({ url: endpoint.url, secret: endpoint._.secret, event: sent });
  }

  function startAll(): void {
    for (const delivery of store.list<Delivery>(collection)) start(delivery);
  }

  async function setMode(wanted: Mode): Promise<void> {
    const wasHeld = mode === 'hold';
    mode = wanted;
    store.put('stripe/meta', 'webhooks', { mode });
    if (mode === 'hold') stopTimers();
    else if (wasHeld) startAll();
    await lanes.allSettled();
  }

  /** Sends events once more, in order for each customer, whatever the mode; answers when all were tried. */
  async function redeliver(events: StripeEvent[], endpoints: WebhookEndpoint[]): Promise<number> {
    await lanes.allSettled();
    const sent = events.flatMap((event) =>
      endpoints.filter((endpoint) => isSubscribed(endpoint, event)).map((endpoint) => ({ event, endpoint })),
    );
    await Promise.all(
      sent.map(({ event, endpoint }) =>
        lanes.add(laneOf(event), async () => {
          if (await post(event.id, endpoint.id)) store.delete(collection, `${event.id}:${endpoint.id}`);
        }),
      ),
    );
    return sent.length;
  }

  function close(): void {
    isClosed = true;
    stopTimers();
  }

  function stopTimers(): void {
    for (const timer of timers) clearTimeout(timer);
    timers.clear();
  }

  if (mode === 'deliver') startAll();
  return { queue, flush, setMode, redeliver, close, mode: () => mode, lanes };
}

function isSubscribed({ status, enabled_events: names }: WebhookEndpoint, { type }: StripeEvent): boolean {
  return status === 'enabled' && names.some((name) => matches(type, name));
}

/** A customer's events wait for each other; those of the catalogue wait for none of them. */
export function laneOf(event: StripeEvent): string {
  return event._.customer;
}
