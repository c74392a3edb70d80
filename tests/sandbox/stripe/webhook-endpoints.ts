import type { Stripe } from 'stripe';
import { type Call, idOf, type World } from './world.ts';
import { pageOf, type PageParams, inRange } from './api/page.ts';
import { invalid } from './api/errors.ts';
import { newId } from './table.ts';
import { mergeMetadata, newMetadata } from './live-customer.ts';
import type { WebhookEndpoint } from './merchant-types.ts';

/** Only this response contains the secret. */
export function createWebhookEndpoint(world: World, { params }: Call<Stripe.WebhookEndpointCreateParams>): object {
  requireUrl(params.url);
  const secret = world.settings.webhookSecret ?? `whsec_${newId('', 32)}`;
  const endpoint = world.webhookEndpoints.insert({
    id: newId('we_1'),
    object: 'webhook_endpoint',
    api_version: params.api_version ?? null,
    application: null,
    created: world.now(),
    description: params.description || null,
    enabled_events: params.enabled_events,
    livemode: false,
    metadata: newMetadata(params.metadata),
    status: 'enabled',
    url: params.url,
    _: { secret },
  });
  return { ...endpoint, secret };
}

function requireUrl(url: string): void {
  const protocol = URL.canParse(url) ? new URL(url).protocol : '';
  if (protocol !== 'http:' && protocol !== 'https:')
    throw invalid('Invalid URL: An explicit scheme (such as https) must be provided.', 'url', 'url_invalid');
}

export function updateWebhookEndpoint(world: World, call: Call<Stripe.WebhookEndpointUpdateParams>): WebhookEndpoint {
  const { url, description, disabled, enabled_events: events, metadata } = call.params;
  if (url !== undefined) requireUrl(url);
  return world.webhookEndpoints.change(idOf(call), (endpoint) => {
    endpoint.url = url ?? endpoint.url;
    endpoint.enabled_events = events ?? endpoint.enabled_events;
    if (description !== undefined) endpoint.description = description || null;
    if (disabled !== undefined) endpoint.status = disabled ? 'disabled' : 'enabled';
    endpoint.metadata = mergeMetadata(endpoint.metadata, metadata);
  });
}

export function listWebhookEndpoints(world: World, { params }: Call<PageParams>) {
  return pageOf(world.webhookEndpoints.all(), params, '/v1/webhook_endpoints', world.webhookEndpoints);
}

export function deleteWebhookEndpoint(world: World, call: Call): object {
  const { id } = world.webhookEndpoints.get(idOf(call));
  world.webhookEndpoints.remove(id);
  return { id, object: 'webhook_endpoint', deleted: true };
}

export function listEvents(world: World, { params }: Call<Stripe.EventListParams>) {
  const { type, types, created } = params;
  const found = world.events
    .all()
    .filter((event) => type === undefined || matches(event.type, type))
    .filter((event) => types === undefined || types.some((pattern) => matches(event.type, pattern)))
    .filter((event) => inRange(event.created, created));
  return pageOf(found, params, '/v1/events', world.events);
}

/** `invoice.*` matches every event of invoices, `*` every event. */
export function matches(type: string, pattern: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;
}
