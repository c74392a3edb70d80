import { join } from 'node:path';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import { Chat } from './bot/chat.ts';
import { createBotEvents } from './bot/events.ts';
import { createPhoneActions } from './bot/phone-actions.ts';
import { readControl } from './controls.ts';
import { createFaultInjection } from './fault-injection.ts';
import { createIssuer } from './issuer.ts';
import { createLibsql } from './libsql/index.ts';
import { numberOf, createPhones } from './phones.ts';
import { createPage } from './page/index.ts';
import { createPush } from './push.ts';
import type { SandboxSettings, Setup } from './setup.ts';
import { openStore } from './store.ts';
import { createStripe } from './stripe/index.ts';
import { createWhatsapp } from './whatsapp/index.ts';
import { createTemplates } from './whatsapp/templates.ts';

export type { SandboxSecrets } from './setup.ts';

type Services = Awaited<ReturnType<typeof openServices>>;

/** Combines the local services, their faults and their request counts in one app. */
export async function createServices(settings: SandboxSettings & { sandboxUrl: string }) {
  const store = openStore(join(settings.stateDir, 'services.db'));
  const setup = { ...settings, store, phones: createPhones(store) };
  const services = await openServices(setup, settings.stateDir);
  return {
    app: route(setup, services),
    close() {
      services.stripe.close();
      services.libsql.close();
      store.close();
    },
  };
}

async function openServices(setup: Setup, stateDir: string) {
  const { store, siteUrl, sandboxUrl, secrets } = setup;
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = secrets;
  const chat = new Chat(setup);
  const templates = createTemplates(setup);
  const phone = [createPhoneActions(setup), await createIssuer(setup), createPush(setup)];
  return {
    libsql: createLibsql({ file: join(stateDir, 'solace.db'), authToken: secrets.TURSO_AUTH_TOKEN }),
    whatsapp: createWhatsapp(setup, templates),
    stripe: createStripe({ store, sandboxUrl, siteUrl, secretKey, webhookSecret }),
    others: [...phone, templates.control, chat.control, createBotEvents(setup, chat)],
  };
}

function route({ phones, siteUrl }: Setup, { libsql, whatsapp, stripe, others }: Services): Hono {
  const faults = createFaultInjection();
  const app = new Hono();
  app.use('/libsql/*', faults.guard('libsql'));
  app.use('/whatsapp/*', faults.guard('whatsapp'));
  app.use('/bot/webhook', faults.guard('bot'));
  app.use('/push-service/*', faults.guard('push'));
  app.use('/v1/*', faults.guard('stripe'));
  app.route('/libsql', libsql.app);
  app.route('/whatsapp', whatsapp);
  for (const each of [faults.control, ...others, stripe.app]) app.route('/', each);
  app.get('/phones', (c) => c.json(phones.recent()));
  app.put('/phones/:phone/hidden', async (c) => {
    const { hidden } = await readControl(c, v.object({ hidden: v.boolean() }), '{hidden: boolean}');
    phones.hide(numberOf(c), hidden);
    return c.json({ hidden });
  });
  app.get('/phones/:phone/messages', (c) => c.json(phones.messages(numberOf(c))));
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
