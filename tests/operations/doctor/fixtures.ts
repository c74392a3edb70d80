import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@libsql/client/web';
import { Stripe } from 'stripe';
import { freePort } from '../../product/machine.ts';
import { startTestServices } from '../test-services.ts';
import { expect } from 'vitest';

export type Fixtures = Awaited<ReturnType<typeof startFixtures>>;

/** Local services that are in order, a database without tables, and servers of which each lacks something. */
export async function startFixtures() {
  const services = await startTestServices();
  const empty = await startTestServices({ isSetUp: false });
  const form = await serve((_, response) => response.writeHead(204).end());
  const bot = await serve((_, response) => response.writeHead(204).end());
  const issuer = await serve((_, response) => response.end('{"keys":[]}'));
  return {
    vars: services.vars,
    url: services.url,
    emptyDatabase: empty.vars,
    formUrl: addressOf(form),
    botUrl: addressOf(bot),
    issuerUrl: addressOf(issuer),
    closedUrl: `http://127.0.0.1:${await freePort(0, 'PORT')}`,
    async close() {
      for (const server of [form, bot, issuer]) server.close();
      await services.close();
      await empty.close();
    },
  };
}

export async function serve(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

export const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

type Services = { vars: Record<string, string>; url: string };

/** The stock SDK against the local Stripe. */
export function openStripe({ vars, url }: Services): Stripe {
  const { hostname, port } = new URL(url);
  return new Stripe(vars['STRIPE_SECRET_KEY']!, { host: hostname, port, protocol: 'http', telemetry: false });
}

/** Runs one SQL statement. */
export async function runSql({ vars }: Pick<Services, 'vars'>, statement: string): Promise<void> {
  const { TURSO_DATABASE_URL: url = '', TURSO_AUTH_TOKEN: authToken = '' } = vars;
  const client = createClient({ url, authToken });
  await client.execute(statement);
  client.close();
}

/** A user whose conversation is encrypted with a key of this name. */
export const insertUserWithKey = (services: Pick<Services, 'vars'>, key: string) =>
  runSql(
    services,
    `insert into users (id, phone, status, created_at, week_anchor, week_start, chat_key, chat_key_id)
     values ('u1', '+15551234567', 'approved', 0, 0, 0, 'k', '${key}')`,
  );

/** Breaks something, and returns how to repair it. */
export type Breakage = (fixtures: Fixtures) => Promise<() => Promise<unknown>>;

async function control({ url }: Fixtures, method: 'GET' | 'PUT', path: string, body?: object): Promise<unknown> {
  const init = { method, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${url}${path}`, { ...init, headers: { 'content-type': 'application/json' } });
  expect(response.status).toBe(200);
  return response.json();
}

/** Changes what the Stripe Dashboard sets. */
export function changeDashboard(changes: object): Breakage {
  return async (fixtures) => {
    const before = (await control(fixtures, 'GET', '/stripe/dashboard')) as object;
    await control(fixtures, 'PUT', '/stripe/dashboard', changes);
    return () => control(fixtures, 'PUT', '/stripe/dashboard', before);
  };
}

/** WhatsApp's status of the template in a language. */
export const changeTemplate =
  (language: string, status: string): Breakage =>
  async (fixtures) => {
    await control(fixtures, 'PUT', `/templates/${language}`, { status });
    return () => control(fixtures, 'PUT', `/templates/${language}`, { status: 'APPROVED' });
  };

export const switchCardsOff: Breakage = async (fixtures) => {
  const setCards = (preference: 'on' | 'off') =>
    openStripe(fixtures).paymentMethodConfigurations.update('pmc_1LocalStripeDefault0000', {
      card: { display_preference: { preference } },
    });
  await setCards('off');
  return () => setCards('on');
};

export const replaceWebhookByOld: Breakage = async (fixtures) => {
  const stripe = openStripe(fixtures);
  const [present] = (await stripe.webhookEndpoints.list()).data;
  const { url, enabled_events } = present!;
  const events = enabled_events as Stripe.WebhookEndpointCreateParams.EnabledEvent[];
  const create = (version: string | null) =>
    stripe.webhookEndpoints.create({
      url,
      enabled_events: events,
      ...(version && { api_version: version as Stripe.WebhookEndpointCreateParams.ApiVersion }),
    });
  await stripe.webhookEndpoints.del(present!.id);
  const old = await create('2024-06-20');
  return async () => {
    await stripe.webhookEndpoints.del(old.id);
    await create(present!.api_version);
  };
};

export const loseChatKey: Breakage = async (fixtures) => {
  await insertUserWithKey(fixtures, 'spring');
  return () => runSql(fixtures, 'delete from users');
};

export const archivePrice: Breakage = async (fixtures) => {
  const stripe = openStripe(fixtures);
  const [price] = (await stripe.prices.list({ lookup_keys: ['premium_weekly'] })).data;
  await stripe.prices.update(price!.id, { active: false });
  return () => stripe.prices.update(price!.id, { active: true });
};
