import { join } from 'node:path';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import { createChat } from './bot/chat.ts';
import { createBotEvents } from './bot/events.ts';
import { createPhoneActions } from './bot/phone-actions.ts';
import { readControl } from './controls.ts';
import { createFaultInjection } from './fault-injection.ts';
import { createIssuer } from './issuer.ts';
import { createLibsql } from './libsql/index.ts';
import { numberOf, createPhones } from './phones.ts';
import { createPage } from './page/index.ts';
import { createPush } from './push.ts';
import { openStore } from './store.ts';
import { createStripe } from './stripe/index.ts';
import { createStatuses } from './whatsapp/graph.ts';
import { createWhatsapp } from './whatsapp/index.ts';
import { createTemplates } from './whatsapp/account.ts';

type ServiceSettings = SandboxSettings & { sandboxUrl: string };
type Services = Awaited<ReturnType<typeof openServices>>;

/** Combines the local services, their faults and their request counts in one app. */
export async function createServices(settings: ServiceSettings): Promise<{ app: Hono; close(): void }> {
  const services = await openServices(settings);
  return {
    app: route(services, settings.siteUrl),
    close() {
      services.stripe.close();
      services.libsql.close();
      services.store.close();
    },
  };
}

async function openServices({ stateDir, siteUrl, sandboxUrl, secrets }: ServiceSettings) {
  const store = openStore(join(stateDir, 'services.db'));
  const phones = createPhones(store);
  const secret = secrets.BOT_WEBHOOK_SECRET;
  const chat = createChat({ store, siteUrl, secret });
  const templates = createTemplates(store, {
    name: secrets.WHATSAPP_TEMPLATE_NAME,
    languages: secrets.WHATSAPP_TEMPLATE_LANGUAGE.trim().split(/\s+/),
  });
  const phoneNumberId = secrets.WHATSAPP_PHONE_NUMBER_ID;
  const report = createStatuses({ siteUrl, phoneNumberId, appSecret: secrets.WHATSAPP_APP_SECRET });
  const sender = { phoneNumberId, token: secrets.WHATSAPP_TOKEN, report };
  const issuer = { issuer: secrets.EXTERNAL_TOKEN_ISSUER, audience: secrets.EXTERNAL_TOKEN_AUDIENCE };
  const merchant = { secretKey: secrets.STRIPE_SECRET_KEY, webhookSecret: secrets.STRIPE_WEBHOOK_SECRET };
  return {
    store,
    phones,
    libsql: createLibsql({ file: join(stateDir, 'solace.db'), authToken: secrets.TURSO_AUTH_TOKEN }),
    templates,
    whatsapp: createWhatsapp({ phones, templates, ...sender }),
    chat,
    talk: createPhoneActions({ phones, siteUrl, secret }),
    botEvents: createBotEvents({ store, phones, chat, secret }),
    push: createPush({ store, sandboxUrl }),
    issuer: await createIssuer({ store, ...issuer }),
    stripe: createStripe({ store, sandboxUrl, siteUrl, ...merchant }),
  };
}

function route(
  { phones, libsql, templates, whatsapp, chat, talk, botEvents, push, issuer, stripe }: Services,
  siteUrl: string,
): Hono {
  const faults = createFaultInjection();
  const app = new Hono();
  app.use('/libsql/*', faults.guard('libsql'));
  app.use('/whatsapp/*', faults.guard('whatsapp'));
  app.use('/bot/webhook', faults.guard('bot'));
  app.use('/push-service/*', faults.guard('push'));
  app.use('/v1/*', faults.guard('stripe'));
  app.route('/libsql', libsql.app);
  app.route('/whatsapp', whatsapp);
  for (const each of [faults.control, templates.control, talk, chat.control, botEvents, push, issuer, stripe.app])
    app.route('/', each);
  app.get('/phones', (c) => c.json(phones.recent()));
  app.put('/phones/:phone/hidden', async (c) => {
    const { hidden } = await readControl(c, v.object({ hidden: v.boolean() }), '{hidden: boolean}');
    phones.set(numberOf(c) ?? '', { hidden });
    return c.json({ hidden });
  });
  app.put('/phones/:phone/reachable', async (c) => {
    const { reachable } = await readControl(c, v.object({ reachable: v.boolean() }), '{reachable: boolean}');
    phones.set(numberOf(c) ?? '', { unreachable: !reachable });
    return c.json({ reachable });
  });
  app.get('/phones/:phone/messages', (c) => c.json(phones.messages(numberOf(c) ?? '')));
  app.route('/', createPage({ siteUrl, ask: (path) => ask(app, path) }));
  app.notFound((c) => c.json({ error: `There is no ${c.req.method} ${c.req.path}` }, 404));
  app.onError(logError);
  return app;
}

function logError(error: Error, c: Context): Response {
  if (error instanceof HTTPException) return error.getResponse();
  console.error(error);
  return c.json({ error: error.message }, 500);
}

async function ask(app: Hono, path: string): Promise<unknown> {
  const response = await app.request(path);
  return response.ok ? response.json() : null;
}

/** The secrets that the Worker and the local services share, under the names of `.dev.vars`. */
export type SandboxSecrets = {
  TURSO_AUTH_TOKEN: string;
  WHATSAPP_PHONE_NUMBER_ID: string;
  WHATSAPP_TOKEN: string;
  WHATSAPP_TEMPLATE_NAME: string;
  WHATSAPP_TEMPLATE_LANGUAGE: string;
  /** Without it WhatsApp sends no delivery reports. */
  WHATSAPP_APP_SECRET?: string;
  BOT_WEBHOOK_SECRET: string;
  EXTERNAL_TOKEN_ISSUER: string;
  EXTERNAL_TOKEN_AUDIENCE: string;
  STRIPE_SECRET_KEY: string;
  STRIPE_WEBHOOK_SECRET: string;
};

export type SandboxSettings = {
  /** 0 selects a free port. */
  port: number;
  /** Used by the sandbox alone; `reset` removes it. */
  stateDir: string;
  /** The Worker's address for calls of the bot and Stripe. */
  siteUrl: string;
  secrets: SandboxSecrets;
  reset?: boolean;
};
