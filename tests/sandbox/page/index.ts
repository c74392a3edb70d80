import { readFileSync } from 'node:fs';
import { Hono } from 'hono';
import { renderPage } from './render.ts';

export type PageSettings = {
  siteUrl: string;
  /** The result of a control call of the sandbox, or null. */
  ask: (path: string) => Promise<unknown>;
};

const types = { js: 'text/javascript', css: 'text/css' } as const;

/** The page of the local services: a phone, the bot's events, Stripe's objects, and the faults. */
export function createPage({ siteUrl, ask }: PageSettings): Hono {
  const app = new Hono();
  app.get('/', (c) => c.html(renderPage(siteUrl)));
  app.get('/page/:folder{client|style}/:file{[a-z-]+\\.(?:js|css)}', (c) => {
    const { folder, file } = c.req.param();
    const extension = file.endsWith('.js') ? 'js' : 'css';
    return c.body(readFileSync(new URL(`${folder}/${file}`, import.meta.url)), 200, {
      'content-type': `${types[extension]}; charset=utf-8`,
      'cache-control': 'no-cache',
    });
  });
  app.get('/page/state', async (c) => {
    const phone = `/${encodeURIComponent(c.req.query('phone') ?? '')}`;
    const [phones, messages, events, faults, stats, clock, billing, chat, replies, mode] = await Promise.all([
      ask('/phones'),
      ask(`/phones${phone}/messages`),
      ask('/bot/events'),
      ask('/faults'),
      ask('/stats'),
      ask('/stripe/clock'),
      ask(`/stripe/customers${phone}`),
      ask(`/bot/chat${phone}`),
      ask(`/bot/replies${phone}`),
      ask('/bot/mode'),
    ]);
    return c.json({ phones, messages, events, faults, stats, clock, billing, chat, replies, mode });
  });
  return app;
}
