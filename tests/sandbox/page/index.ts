import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';

type PageSettings = {
  siteUrl: string;
  /** The result of a control call of the sandbox, or null. */
  ask: (path: string) => Promise<unknown>;
};

/** The page of the local services: a phone, the bot's events, Stripe's objects, and the faults. */
export function createPage({ siteUrl, ask }: PageSettings): Hono {
  const app = new Hono();
  app.get('/', (c) => {
    const page = readFileSync(new URL('client/index.html', import.meta.url), 'utf8');
    return c.html(page.replaceAll('{{siteUrl}}', siteUrl));
  });
  app.use('/page/client/*', async (c, next) => {
    c.header('cache-control', 'no-cache');
    await next();
  });
  app.get('/page/client/*', serveStatic({ root: join(import.meta.dirname, '..') }));
  app.get('/page/state', async (c) => {
    const phone = encodeURIComponent(c.req.query('phone') ?? '');
    const calls = {
      phones: '/phones',
      messages: `/phones/${phone}/messages`,
      events: '/bot/events',
      faults: '/faults',
      stats: '/stats',
      clock: '/stripe/clock',
      billing: `/stripe/customers/${phone}`,
      chat: `/bot/chat/${phone}`,
      replies: `/bot/replies/${phone}`,
      mode: '/bot/mode',
    };
    const state = Object.entries(calls).map(async ([name, path]) => [name, await ask(path)]);
    return c.json(Object.fromEntries(await Promise.all(state)));
  });
  return app;
}
