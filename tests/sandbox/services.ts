import { join } from 'node:path';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { createChat } from './bot/chat.ts';
import { createBotEvents } from './bot/events.ts';
import { createPhoneActions } from './bot/phone-actions.ts';
import { createFaultInjection } from './fault-injection.ts';
import { createIssuer } from './issuer.ts';
import { createLibsql } from './libsql/index.ts';
import { createPhones } from './phones.ts';
import { createPage } from './page/index.ts';
import { createPush } from './push.ts';
import type { SandboxSettings } from './setup.ts';
import { openStore } from './store.ts';
import { createStripe } from './stripe/index.ts';
import { createWhatsapp } from './whatsapp/index.ts';
import { createTemplates } from './whatsapp/templates.ts';

/** Combines the local services, their faults and their request counts in one app. */
export async function createServices(settings: SandboxSettings & { sandboxUrl: string }) {
  const { siteUrl, sandboxUrl, stateDir, secrets } = settings;
  const store = openStore(join(stateDir, 'services.db'));
  const phones = createPhones(store);
  const setup = { siteUrl, sandboxUrl, secrets, store, phones };
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = secrets;
  const libsql = createLibsql({ file: join(stateDir, 'solace.db'), authToken: secrets.TURSO_AUTH_TOKEN });
  const stripe = createStripe({ store, sandboxUrl, siteUrl, secretKey, webhookSecret });
  const templates = createTemplates(setup);
  const chat = createChat(setup);
  const faults = createFaultInjection();

  const app = new Hono();
  app.use('/libsql/*', faults.guard('libsql'));
  app.use('/whatsapp/*', faults.guard('whatsapp'));
  app.use('/bot/webhook', faults.guard('bot'));
  app.use('/push-service/*', faults.guard('push'));
  app.use('/v1/*', faults.guard('stripe'));
  app.route('/libsql', libsql.app);
  app.route('/whatsapp', createWhatsapp(setup, templates));
  const bot = [chat.control, createBotEvents(setup, chat), createPhoneActions(setup)];
  const others = [createPush(setup), templates.control, await createIssuer(setup), stripe.app];
  for (const each of [faults.control, ...bot, ...others, createPage(siteUrl, app)]) app.route('/', each);
  app.notFound((c) => c.json({ error: `There is no ${c.req.method} ${c.req.path}` }, 404));
  app.onError(logError);

  return {
    app,
    close() {
      stripe.close();
      libsql.close();
      store.close();
    },
  };
}

function logError(error: Error, c: Context): Response {
  if (error instanceof HTTPException) return error.getResponse();
  console.error(error);
  return c.json({ error: error.message }, 500);
}
