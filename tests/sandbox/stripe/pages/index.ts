import { readFileSync } from 'node:fs';
import { Hono, type MiddlewareHandler } from 'hono';
import { StripeError } from '../errors.ts';
import { checkoutPages } from './checkout.ts';
import { invoicePages } from './invoice.ts';
import { closedPage } from './layout.ts';
import { portalPages } from './portal.ts';
import type { Atomically } from '../api/call.ts';
import type { World } from '../types/world.ts';

const style = readFileSync(new URL('style.css', import.meta.url), 'utf8');

/** The back button must show the current state. */
const preventCaching: MiddlewareHandler = async function preventCaching(c, next) {
  await next();
  c.header('Cache-Control', 'no-store');
};

/** The hosted pages: checkout, portal and invoice. */
export function createPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/stripe/pages.css', (c) => c.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
  for (const path of ['/checkout/*', '/portal/*', '/invoice/*']) app.use(path, preventCaching);
  app.route('/', checkoutPages(world, atomically));
  app.route('/', portalPages(world, atomically));
  app.route('/', invoicePages(world, atomically));
  app.onError((error, c) => {
    if (!(error instanceof StripeError)) throw error;
    const title = error.status === 404 ? 'Page not found' : 'That did not work';
    return c.html(closedPage(world, { title, text: error.message, back: null }), error.status as 404);
  });
  return app;
}
