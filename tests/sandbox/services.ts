import { join } from 'node:path';
import { Hono } from 'hono';
import { createBotEvents } from './bot/events.ts';
import { createTalk } from './bot/talk.ts';
import { createGate } from './gate.ts';
import { createIssuer } from './issuer/index.ts';
import { createLibsql } from './libsql/index.ts';
import { numberOf } from './phones/number.ts';
import { createPage } from './page/index.ts';
import { createPhones } from './phones/phones.ts';
import type { SandboxSettings } from './settings.ts';
import { openStore } from './store.ts';
import { loadStripe } from './stripe.ts';
import { createWhatsapp } from './whatsapp/index.ts';

/** Puts the local services, their faults and their counts together in one app. */
export async function createServices({
  stateDir,
  siteUrl,
  sandboxUrl,
  secrets,
}: SandboxSettings & { sandboxUrl: string }) {
  const store = openStore(join(stateDir, 'services.db'));
  const libsql = createLibsql({ file: join(stateDir, 'solace.db'), authToken: secrets.TURSO_AUTH_TOKEN });
  const phones = createPhones(store);
  const whatsapp = createWhatsapp({
    phones,
    phoneNumberId: secrets.WHATSAPP_PHONE_NUMBER_ID,
    token: secrets.WHATSAPP_TOKEN,
    template: { name: secrets.WHATSAPP_TEMPLATE_NAME, language: secrets.WHATSAPP_TEMPLATE_LANGUAGE },
  });
  const issuer = { issuer: secrets.EXTERNAL_TOKEN_ISSUER, audience: secrets.EXTERNAL_TOKEN_AUDIENCE };
  const bot = { phones, siteUrl, secret: secrets.BOT_WEBHOOK_SECRET };
  const stripe = await loadStripe({
    store,
    sandboxUrl,
    siteUrl,
    secretKey: secrets.STRIPE_SECRET_KEY,
    webhookSecret: secrets.STRIPE_WEBHOOK_SECRET,
  });
  const gate = createGate();

  const app = new Hono();
  app.use('/libsql/*', gate.guard('libsql'));
  app.use('/whatsapp/*', gate.guard('whatsapp'));
  app.use('/bot/webhook', gate.guard('bot'));
  app.use('/v1/*', gate.guard('stripe'));
  app.route('/', gate.control);
  app.route('/libsql', libsql.app);
  app.route('/whatsapp', whatsapp);
  app.route('/', createTalk(bot));
  app.route('/', createBotEvents({ ...bot, store }));
  app.route('/', await createIssuer({ store, ...issuer }));
  app.route('/', stripe.app);
  app.get('/phones', (c) => c.json(phones.recent()));
  app.get('/phones/:phone/messages', (c) => c.json(phones.messages(numberOf(c) ?? '')));
  app.route('/', createPage({ siteUrl, ask: (path) => ask(app, path) }));
  app.notFound((c) => c.json({ error: `Nothing answers ${c.req.method} ${c.req.path}` }, 404));
  app.onError((error, c) => {
    console.error(error);
    return c.json({ error: error.message }, 500);
  });

  function close(): void {
    stripe.close();
    libsql.close();
    store.close();
  }
  return { app, close };
}

async function ask(app: Hono, path: string): Promise<unknown> {
  const response = await app.request(path);
  return response.ok ? response.json() : null;
}
