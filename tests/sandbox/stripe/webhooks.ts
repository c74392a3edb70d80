import type { Store } from './store.ts';
import type { StripeEvent, WebhookEndpoint } from './objects.ts';
import { createHmac } from 'node:crypto';
import { realSeconds } from './clock.ts';
import type { Stripe } from 'stripe';
import { type Call, idOf, type World, given } from './world.ts';
import { newId } from './table.ts';

/** An event that an endpoint has not accepted yet. */
type Delivery = {
  id: string;
  event: string;
  endpoint: string;
  queue: string;
  attempts: number;
  notBefore: number;
};
export type Mode = 'deliver' | 'hold';

const collection = 'stripe/deliveries';
/** Seconds before each retry; after the last one the event is dropped. */
const delays = [1, 2, 5, 10, 20, 30, 60, 60, 120, 300];

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Delivers events to endpoints: signed, in order for each customer, retried until accepted, across restarts. */
export function createWebhooks(store: Store) {
  const queues = createQueues();
  const fresh: string[] = [];
  /** The deliveries that are queued or wait for their next attempt. */
  const pending = new Set<string>();
  let isClosed = false;

  /** The mode of a customer's queue, else of all that have none of their own. */
  function modeOf(queue: string): Mode {
    const own =
      queue === '' ? undefined : store.get<{ mode: Mode }>('stripe/meta', `webhooks:${queue}`);
    return (own ?? store.get<{ mode: Mode }>('stripe/meta', 'webhooks'))?.mode ?? 'deliver';
  }

  /** Stores the deliveries of an event, in the transaction that emits it. */
  function enqueue(event: StripeEvent, endpoints: WebhookEndpoint[]): void {
    for (const endpoint of endpoints) {
      const id = `${event.id}:${endpoint.id}`;
      const delivery = {
        id,
        event: event.id,
        endpoint: endpoint.id,
        queue: queueOf(event),
        attempts: 0,
        notBefore: 0,
      };
      store.put(collection, id, delivery satisfies Delivery);
      fresh.push(id);
    }
  }

  /** Sends the queued events after their transaction. */
  function flush(): void {
    for (const id of fresh.splice(0)) {
      const delivery = store.get<Delivery>(collection, id);
      if (delivery) start(delivery);
    }
  }

  function start({ id, queue, notBefore }: Delivery): void {
    if (pending.has(id) || modeOf(queue) === 'hold') return;
    pending.add(id);
    const attempt = () => void queues.add(queue, () => deliver(id));
    const wait = notBefore - Date.now();
    if (wait > 0) setTimeout(attempt, wait).unref();
    else attempt();
  }

  async function deliver(id: string): Promise<void> {
    if (isClosed) return;
    const delivery = store.get<Delivery>(collection, id);
    if (delivery && modeOf(delivery.queue) === 'deliver') await attemptDelivery(delivery);
    pending.delete(id);
    const next = isClosed ? undefined : store.get<Delivery>(collection, id);
    if (next) start(next);
  }

  async function attemptDelivery(delivery: Delivery): Promise<void> {
    const { id, event, endpoint, attempts } = delivery;
    const isTaken = await post(event, endpoint);
    if (isClosed) return;
    const delay = delays[attempts];
    if (isTaken || delay === undefined) store.delete(collection, id);
    else
      store.put(collection, id, {
        ...delivery,
        attempts: attempts + 1,
        notBefore: Date.now() + delay * 1000,
      });
  }

  async function post(eventId: string, endpointId: string): Promise<boolean> {
    const event = store.get<StripeEvent>('stripe/events', eventId);
    const endpoint = store.get<WebhookEndpoint>('stripe/webhook_endpoints', endpointId);
    if (!event || endpoint?.status !== 'enabled') return true;
    const { _, ...sent } = event;
    return postEvent(endpoint, sent);
  }

  function startAll(): void {
    for (const delivery of store.list<Delivery>(collection)) start(delivery);
  }

  /** For one customer's events, or for those of all who have no mode of their own. */
  async function setMode(mode: Mode, customer = ''): Promise<void> {
    store.put('stripe/meta', customer === '' ? 'webhooks' : `webhooks:${customer}`, { mode });
    startAll();
    await (customer === '' ? queues.allSettled() : queues.settled(customer));
  }

  /** Sends events again, in order for each customer, in every mode; resolves when each was attempted. */
  async function redeliver(events: StripeEvent[], endpoints: WebhookEndpoint[]): Promise<number> {
    const sent = events.flatMap((event) =>
      endpoints
        .filter((endpoint) => isSubscribed(endpoint, event.type))
        .map((endpoint) => ({ event, endpoint })),
    );
    await Promise.all(
      sent.map(({ event, endpoint }) =>
        queues.add(queueOf(event), async () => {
          if (await post(event.id, endpoint.id))
            store.delete(collection, `${event.id}:${endpoint.id}`);
        }),
      ),
    );
    return sent.length;
  }

  function close(): void {
    isClosed = true;
  }

  startAll();
  return { enqueue, flush, setMode, redeliver, close, queues };
}

export function isSubscribed(
  { status, enabled_events: names }: WebhookEndpoint,
  type: string,
): boolean {
  return status === 'enabled' && names.some((name) => matches(type, name));
}

/** The name of an event's queue: its customer, or '' for events of the catalogue. */
export const queueOf = (event: StripeEvent): string => event._.customer;

const timeoutMs = 10_000;

/**
 * Posts a signed event; returns whether the endpoint accepted it. The signature contains the real time, since
 * receivers compare it with theirs.
 */
async function postEvent({ url, _: { secret } }: WebhookEndpoint, event: object): Promise<boolean> {
  const body = JSON.stringify(event, null, 2);
  const at = realSeconds();
  const signature = createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Stripe-Signature': `t=${at},v1=${signature}`,
    'User-Agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
  };
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body,
    signal,
    redirect: 'manual',
  }).catch(() => null);
  await response?.body?.cancel().catch(() => undefined);
  return response?.ok === true;
}

/** Queues by name, so that each customer's events arrive in order. */
export function createQueues() {
  const tails = new Map<string, Promise<void>>();

  /** Runs after all earlier work of the same queue; queues run in parallel. */
  function add(queue: string, work: () => Promise<void>): Promise<void> {
    const tail = (tails.get(queue) ?? Promise.resolve()).then(work, work);
    tails.set(queue, tail);
    const removeIfLast = () => {
      if (tails.get(queue) === tail) tails.delete(queue);
    };
    tail.then(removeIfLast, removeIfLast);
    return tail;
  }
  async function allSettled(): Promise<void> {
    while (tails.size > 0) await Promise.allSettled(tails.values());
  }
  return {
    add,
    isBusy: (queue: string) => tails.has(queue),
    async settled(queue: string): Promise<void> {
      while (tails.has(queue)) await Promise.allSettled([tails.get(queue)]);
    },
    allSettled,
  };
}

/** Only this response contains the secret. */
export function createWebhookEndpoint(
  world: World,
  { params }: Call<Stripe.WebhookEndpointCreateParams>,
): object {
  const secret = world.settings.webhookSecret;
  const endpoint = world.webhookEndpoints.insert({
    id: newId('we_1'),
    object: 'webhook_endpoint',
    created: world.now(),
    ...given(params, 'api_version'),
    enabled_events: params.enabled_events,
    url: params.url,
    _: { secret },
  });
  return { ...endpoint, secret };
}

export function updateWebhookEndpoint(
  world: World,
  call: Call<Stripe.WebhookEndpointUpdateParams>,
): WebhookEndpoint {
  const { params } = call;
  return world.webhookEndpoints.change(idOf(call), (endpoint) => {
    Object.assign(endpoint, given(params, 'url', 'enabled_events'));
    if (params.disabled !== undefined) endpoint.status = params.disabled ? 'disabled' : 'enabled';
  });
}

export function deleteWebhookEndpoint(world: World, call: Call): object {
  const { id } = world.webhookEndpoints.get(idOf(call));
  world.webhookEndpoints.remove(id);
  return { id, object: 'webhook_endpoint', deleted: true };
}

/** `invoice.*` matches every event of invoices, `*` every event. */
export function matches(type: string, pattern: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
