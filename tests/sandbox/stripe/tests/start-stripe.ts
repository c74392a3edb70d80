import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Stripe } from 'stripe';
import { onTestFinished } from 'vitest';
import { openStore, type Store } from '../../store.ts';
import { createStripe } from '../index.ts';
import type { CollectionSettings } from '../types/world.ts';

const secretKey = 'sk_test_local';
export const webhookSecret = 'whsec_local';
export const week = 7 * 86_400;
/** How long a renewal's invoice stays a draft. */
export const draftHour = 3600;

type Received = { body: string; signature: string; event: Stripe.Event };
export type LocalStripe = Awaited<ReturnType<typeof startStripe>>;
type Options = { store?: Store; collection?: Partial<CollectionSettings> };

/** A local Stripe on a free port, the stock SDK as its client, and a merchant's site that receives its events. */
export async function startStripe({ store = openStore(':memory:'), collection = {} }: Options = {}) {
  const server = createServer();
  const url = await listen(server);
  const shop = await startShop();
  const local = createStripe({ store, sandboxUrl: url, siteUrl: shop.url, secretKey, webhookSecret, collection });
  const listener = getRequestListener(local.app.fetch, { overrideGlobalObjects: false });
  server.on('request', (request, response) => void listener(request, response));
  onTestFinished(() => {
    local.close();
    close(server);
    close(shop.server);
  });
  const { hostname: host, port } = new URL(url);
  const stripe = new Stripe(secretKey, { host, port, protocol: 'http', maxNetworkRetries: 0, telemetry: false });
  return { stripe, url, shop, control: controlOf(url), stop: () => (local.close(), close(server)) };
}

function controlOf(url: string) {
  return async function control(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${url}/stripe${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
    return (await response.json()) as Record<string, unknown>;
  };
}

/** A merchant's site: records the events that it accepts, and responds with `state.status`. */
async function startShop() {
  const received: Received[] = [];
  const state = { status: 200 };
  const server = createServer((request, response) => void receive(request, response));
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const signature = String(request.headers['stripe-signature']);
    if (state.status === 200) received.push({ body, signature, event: JSON.parse(body) as Stripe.Event });
    response.writeHead(state.status).end();
  }
  return { url: await listen(server), server, received, state };
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
  return body;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function close(server: Server): void {
  server.close();
  server.closeAllConnections();
}
