import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { serveStatic } from '@hono/node-server/serve-static';
import { type SandboxSettings, createPhones } from './setup.ts';
import { createChat, createBotEvents } from './bot/chat.ts';
import { createPhoneActions } from './bot/phone-actions.ts';
import { createFaultInjection } from './fault-injection.ts';
import { createIssuer } from './issuer.ts';
import { createLibsql } from './libsql/index.ts';
import { createMail } from './mail.ts';
import { createPush } from './push.ts';
import { openStore } from './stripe/store.ts';
import { listen } from './stripe/listen.ts';
import { createStripe } from './stripe/index.ts';
import { createWhatsapp, createTemplates } from './whatsapp/index.ts';
import { createStatuses } from './whatsapp/statuses.ts';

/** Starts every local service on one port. Their state is stored in `stateDir` and survives a restart. */
export async function startSandbox(settings: SandboxSettings) {
  const server = await listen(settings.port);
  const url = `http://localhost:${server.port}`;
  const services = await createServices({ ...settings, sandboxUrl: url });
  const listener = getRequestListener(services.app.fetch, { overrideGlobalObjects: false });
  server.serve((request, response) => void listener(request, response));
  return {
    url,
    close: async () => {
      await server.close();
      services.close();
    },
  };
}

/** Combines the local services, their faults and their request counts in one app. */
async function createServices(settings: SandboxSettings & { sandboxUrl: string }) {
  const { siteUrl, sandboxUrl, stateDir, secrets } = settings;
  const store = openStore(join(stateDir, 'services.db'));
  const phones = createPhones(store);
  const setup = { siteUrl, sandboxUrl, secrets, store, phones };
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret } = secrets;
  const libsql = createLibsql({
    file: join(stateDir, 'solace.db'),
    authToken: secrets.TURSO_AUTH_TOKEN,
  });
  const stripe = createStripe({
    store,
    sandboxUrl,
    siteUrl,
    secretKey,
    webhookSecret,
  });
  const templates = createTemplates(setup);
  const statuses = createStatuses(setup);
  const chat = createChat(setup);
  const faults = createFaultInjection();

  const app = new Hono();
  app.use('/libsql/*', faults.guard('libsql'));
  app.use('/whatsapp/*', faults.guard('whatsapp'));
  app.use('/bot/webhook', faults.guard('bot'));
  app.use('/push-service/*', faults.guard('push'));
  app.use('/mail/emails', faults.guard('mail'));
  app.use('/v1/*', faults.guard('stripe'));
  app.route('/libsql', libsql.app);
  app.route('/whatsapp', createWhatsapp(setup, templates, statuses));
  const bot = [chat.control, createBotEvents(setup, chat), createPhoneActions(setup)];
  const others = [
    createPush(setup),
    createMail(setup),
    templates.control,
    statuses.control,
    await createIssuer(setup),
    stripe.app,
  ];
  for (const each of [faults.control, ...bot, ...others, createPage(siteUrl, app)])
    app.route('/', each);
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

/** The page of the local services: phones, the bot's events, mails and Stripe's objects. */
function createPage(siteUrl: string, services: Hono): Hono {
  const app = new Hono();
  const read = async (path: string): Promise<unknown> => {
    const response = await services.request(path);
    return response.ok ? response.json() : null;
  };
  app.get('/', (c) => {
    const page = readFileSync(new URL('page/client/index.html', import.meta.url), 'utf8');
    return c.html(page.replaceAll('{{siteUrl}}', siteUrl));
  });
  app.get('/page/client/*', serveStatic({ root: import.meta.dirname }));
  app.get('/page/state', async (c) => {
    const phone = encodeURIComponent(c.req.query('phone') ?? '');
    const paths = [
      '/phones',
      `/phones/${phone}/messages`,
      '/bot/events',
      '/stripe/clock',
      `/stripe/customers/${phone}`,
      '/mail',
    ];
    const [phones, messages, events, clock, billing, mails] = await Promise.all(paths.map(read));
    return c.json({
      phones,
      messages,
      events,
      clock,
      billing,
      mails,
    });
  });
  return app;
}
