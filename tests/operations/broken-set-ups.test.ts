import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@libsql/client/web';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lineOf } from '../../worker/operations/doctor/finding.ts';
import { checkSettings } from '../../worker/operations/doctor/checks/settings.ts';
import { checkStripeAccount } from '../../worker/operations/doctor/checks/stripe-account.ts';
import { runChecks } from '../../worker/operations/doctor/run-checks.ts';
import type { Settings } from '../../worker/settings.ts';
import type { Values } from '../../worker/operations/target.ts';
import { freePort } from '../product/free-port.ts';
import { startTestServices } from './test-services.ts';

type Services = Awaited<ReturnType<typeof startTestServices>>;

let services: Services;
let empty: Services;
let vars: Record<string, string>;
let form: Server;
let bot: Server;
let issuer: Server;
/** Where nobody listens. */
let closedPort: number;
beforeAll(async () => {
  services = await startTestServices();
  empty = await startTestServices({ migrated: false });
  vars = services.vars;
  closedPort = await freePort(0, 'PORT');
  form = await serve((_, response) => response.writeHead(204).end());
  bot = await serve((_, response) => response.writeHead(204).end());
  issuer = await serve((_, response) => response.end('{"keys":[]}'));
});
afterAll(async () => {
  for (const server of [form, bot, issuer]) server.close();
  await services.close();
  await empty.close();
});

async function serve(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const addressOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function openStripe(): Stripe {
  const { hostname, port } = new URL(services.url);
  return new Stripe(vars['STRIPE_SECRET_KEY']!, { host: hostname, port, protocol: 'http', telemetry: false });
}

async function control(method: 'GET' | 'PUT', path: string, body?: object): Promise<unknown> {
  const init = { method, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${services.url}${path}`, { ...init, headers: { 'content-type': 'application/json' } });
  expect(response.status).toBe(200);
  return response.json();
}

/** Puts something out of order and returns how to put it right again. */
type Break = () => Promise<() => Promise<unknown>>;

async function dashboard(changes: object): Promise<() => Promise<unknown>> {
  const before = (await control('GET', '/stripe/dashboard')) as object;
  await control('PUT', '/stripe/dashboard', changes);
  return () => control('PUT', '/stripe/dashboard', before);
}

const cards =
  (preference: 'on' | 'off'): (() => Promise<unknown>) =>
  () =>
    openStripe().paymentMethodConfigurations.update('pmc_1LocalStripeDefault0000', {
      card: { display_preference: { preference } },
    });

async function oldWebhook(): Promise<() => Promise<unknown>> {
  const stripe = openStripe();
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
}

async function lostChatKey(): Promise<() => Promise<unknown>> {
  const { TURSO_DATABASE_URL: url, TURSO_AUTH_TOKEN: authToken } = vars;
  const client = createClient({ url: url!, authToken: authToken! });
  await client.execute(`insert into users (id, phone, status, created_at, week_anchor, week_start, chat_key, chat_key_id)
    values ('u1', '+15551234567', 'approved', 0, 0, 0, 'k', 'spring')`);
  return async () => {
    await client.execute('delete from users');
    client.close();
  };
}

async function archivedPrice(): Promise<() => Promise<unknown>> {
  const stripe = openStripe();
  const [price] = (await stripe.prices.list({ lookup_keys: ['premium_weekly'] })).data;
  await stripe.prices.update(price!.id, { active: false });
  return () => stripe.prices.update(price!.id, { active: true });
}

type SetUp = {
  name: string;
  values?: () => Values;
  breaks?: Break;
  /** The one line of the doctor, word for word. */
  says: string;
};

const random = 'Make one with `openssl rand -base64 48 | tr -d "+/=\\n" | cut -c1-43`.';

/** A set-up each that somebody has brought about, and the one sentence with the next step that the doctor has for it. */
const setUps: SetUp[] = [
  {
    name: 'the address of the database was forgotten',
    values: () => ({ TURSO_DATABASE_URL: undefined }),
    says: '✗ TURSO_DATABASE_URL: is missing. Take it from `turso db show <database> --url`.',
  },
  {
    name: 'the token of the database was revoked',
    values: () => ({ TURSO_AUTH_TOKEN: 'x'.repeat(43) }),
    says: '✗ TURSO_AUTH_TOKEN: is refused by the database. Make one with `turso db tokens create <database>`.',
  },
  {
    name: 'the database was never migrated',
    values: () => ({
      TURSO_DATABASE_URL: empty.vars['TURSO_DATABASE_URL'],
      TURSO_AUTH_TOKEN: empty.vars['TURSO_AUTH_TOKEN'],
    }),
    says: '✗ TURSO_DATABASE_URL: the database lacks 0000_accounts, … Run `npm run deploy`, which migrates it.',
  },
  {
    name: 'a session key was typed by hand',
    values: () => ({ SESSION_KEYS: 'k1:hunter2' }),
    says: `✗ SESSION_KEYS: is malformed. Write \`name:secret\`, the secret of 43 characters. ${random}`,
  },
  {
    name: 'one secret serves twice',
    values: () => ({ CODE_PEPPER: vars['WHATSAPP_TOKEN'] }),
    says: '✗ WHATSAPP_TOKEN: is the same as CODE_PEPPER. Make a permanent token of a system user in Meta Business settings, with both WhatsApp permissions.',
  },
  {
    name: 'the key of conversations was removed too early',
    breaks: lostChatKey,
    says: `✗ CHAT_KEYS: lacks spring, with which conversations are encrypted. Put the old key back behind the new one. Write \`name:secret\`, the secret of 43 characters. ${random}`,
  },
  {
    name: 'the token of WhatsApp is another app’s',
    values: () => ({ WHATSAPP_TOKEN: 'y'.repeat(43) }),
    says: '✗ WHATSAPP_TOKEN: is refused by WhatsApp. Make a permanent token of a system user in Meta Business settings, with both WhatsApp permissions.',
  },
  {
    name: 'the template is not approved in the language',
    values: () => ({ WHATSAPP_TEMPLATE_LANGUAGE: 'de' }),
    says: '✗ WHATSAPP_TEMPLATE_LANGUAGE: is no language of the template. Write the language in which the template was approved, such as en_US.',
  },
  {
    name: 'the bot takes calls that nobody signed',
    values: () => ({ BOT_WEBHOOK_URL: addressOf(bot) }),
    says: '✗ BOT_WEBHOOK_URL: the bot takes calls that nobody signed. Let the bot verify them as Standard Webhooks says.',
  },
  {
    name: 'the bot does not run',
    values: () => ({ BOT_WEBHOOK_URL: `http://127.0.0.1:${closedPort}` }),
    says: '✗ BOT_WEBHOOK_URL: the bot does not answer (ECONNREFUSED). Write the address at which the bot takes events.',
  },
  {
    name: 'the external issuer shows no key',
    values: () => ({ EXTERNAL_TOKEN_JWKS_URL: addressOf(issuer) }),
    says: '✗ EXTERNAL_TOKEN_JWKS_URL: holds no key. Write the address of the key set of the external issuer.',
  },
  {
    name: 'the contact form’s service lets no browser in',
    values: () => ({ CONTACT_URL: addressOf(form) }),
    says: '✗ CONTACT_URL: does not allow http://localhost:9 in CORS, so browsers cannot send to it. Write the https address of a webhook or form service that takes JSON by POST and allows the site in CORS.',
  },
  {
    name: 'the key is of another Stripe account',
    values: () => ({ STRIPE_SECRET_KEY: `sk_test_${'z'.repeat(43)}` }),
    says: '✗ STRIPE_SECRET_KEY: is refused by Stripe. Take a secret or restricted key from the Stripe dashboard: Developers > API keys.',
  },
  {
    name: 'the key charges real cards outside production',
    values: () => ({ STRIPE_SECRET_KEY: `sk_live_${'z'.repeat(43)}` }),
    says: '✗ STRIPE_SECRET_KEY: must be of the test mode in local. Take a secret or restricted key from the Stripe dashboard: Developers > API keys.',
  },
  {
    name: 'somebody archived a price',
    breaks: archivedPrice,
    says: "✗ STRIPE_SECRET_KEY: Stripe has no price premium_weekly, no portal configuration for …, and Stripe's portal configuration is out of date. Run `npm run stripe:setup`.",
  },
  {
    name: 'the webhook endpoint was made by hand, in an old version',
    breaks: oldWebhook,
    says: "✗ STRIPE_WEBHOOK_SECRET: Stripe's webhook endpoint sends 2024-06-20, not 2026-10-28.endive. Delete it in the Stripe Dashboard, run `npm run stripe:setup`, and put the new secret in front.",
  },
  {
    name: 'cards are switched off',
    breaks: async () => {
      await cards('off')();
      return cards('on');
    },
    says: '✗ Payment methods: cards are switched off, so nobody can pay. Switch them on in the Stripe Dashboard: Settings > Payment methods.',
  },
  {
    name: 'tax is on, and Stripe Tax is not set up',
    values: () => ({ AUTOMATIC_TAX: 'on' }),
    says: '✗ AUTOMATIC_TAX: is on, but Stripe Tax is pending: head_office is missing. Complete Settings > Tax in the Stripe Dashboard, or set AUTOMATIC_TAX=off.',
  },
  {
    name: 'nobody recognises the charge on the statement',
    breaks: () => dashboard({ statementDescriptor: null }),
    says: '! Stripe account: has no statement descriptor, so customers do not recognise the charge. Write one in the Stripe Dashboard: Settings > Business > Public details.',
  },
  {
    name: 'the account has no logo',
    breaks: () => dashboard({ icon: null }),
    says: "! Stripe account: has no icon and no logo, so Checkout, portal and receipts look like nobody's. Add one in the Stripe Dashboard: Settings > Business > Branding.",
  },
  {
    name: 'the account was never activated',
    breaks: () => dashboard({ chargesEnabled: false }),
    says: '! Stripe account: Stripe does not let the account charge anybody yet. Finish the activation in the Stripe Dashboard: Settings > Business > Account status.',
  },
];

const complaints = async (more: Values = {}) =>
  (await runChecks({ ...vars, ...more }, { target: 'local' })).map(lineOf).filter((line) => !line.startsWith('✓'));

describe('the doctor names in one sentence, with the next step,', () => {
  it.each(setUps)('$name', async ({ values, breaks, says }) => {
    const usual = await complaints();
    const remedy = await breaks?.();
    const found = (await complaints(values?.())).filter((line) => !usual.includes(line));
    await remedy?.();
    expect(found.map(shortened)).toEqual([says]);
    expect(await complaints()).toEqual(usual);
  });
});

/** The list of migrations grows, and Stripe's ids are random. */
function shortened(line: string): string {
  return line.replace(/(?<=0000_accounts), [\w, ]+\./, ', …').replace(/price_1\w+/, '…');
}

describe('what Stripe’s API does not show', () => {
  const linesOf = async (target: 'local' | 'preview', stripe = openStripe()) => {
    const { settings } = checkSettings(vars);
    return (await checkStripeAccount(stripe, settings as Settings, target)).map(lineOf);
  };

  it('stands in one line for a person, and not on this machine', async () => {
    const lines = await linesOf('preview');
    expect(lines.filter((line) => line.startsWith('?'))).toEqual([
      '? Stripe Dashboard, check by hand: retries of failed payments and what follows the last one; e-mails about receipts, failed payments and authentication; one subscription per customer; who is told about disputes. The checklist is in worker/docs/runbook.md#stripe-dashboard.',
    ]);
    expect((await linesOf('local')).filter((line) => line.startsWith('?'))).toEqual([]);
  });

  it('includes what a restricted key may not read', async () => {
    const refusing = await serve((_, response) => response.writeHead(403).end('{"error":{"message":"no permission"}}'));
    const { port } = refusing.address() as AddressInfo;
    const stripe = new Stripe('rk_test_x', { host: '127.0.0.1', port, protocol: 'http', maxNetworkRetries: 0 });
    const lines = await linesOf('local', stripe);
    refusing.close();
    expect(lines).toEqual([expect.stringMatching(/^\? .*the account \(the key may not read it\); payment methods/)]);
  });
});
