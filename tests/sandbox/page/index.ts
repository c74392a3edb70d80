import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';

/** The page of the local services: phones, the bot's events and Stripe's objects. */
export function createPage(siteUrl: string, services: Hono): Hono {
  const app = new Hono();
  const read = async (path: string): Promise<unknown> => {
    const response = await services.request(path);
    return response.ok ? response.json() : null;
  };
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
    const [phones, messages, events, clock, billing] = await Promise.all(paths.map(read));
    return c.json({ phones, messages, events, clock, billing });
  });
  return app;
}
