import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';

type PageSettings = {
  siteUrl: string;
  /** The result of a control call of the sandbox, or null. */
  ask: (path: string) => Promise<unknown>;
};

/** The page of the local services: phones, the bot's events and Stripe's objects. */
export function createPage({ siteUrl, ask }: PageSettings): Hono {
  const app = new Hono();
  app.get('/', (c) => {
    const page = readFileSync(new URL('client/index.html', import.meta.url), 'utf8');
    return c.html(page.replaceAll('{{siteUrl}}', siteUrl));
  });
  app.get('/page/client/*', serveStatic({ root: join(import.meta.dirname, '..') }));
  app.get('/page/state', async (c) => {
    const phone = encodeURIComponent(c.req.query('phone') ?? '');
    const paths = [
      '/phones',
      `/phones/${phone}/messages`,
      '/bot/events',
      '/stripe/clock',
      `/stripe/customers/${phone}`,
    ];
    const [phones, messages, events, clock, billing] = await Promise.all(paths.map(ask));
    return c.json({ phones, messages, events, clock, billing });
  });
  return app;
}
