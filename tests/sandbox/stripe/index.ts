import { Hono, type MiddlewareHandler } from 'hono';
import type { Store } from '../store.ts';
import { createApi } from './api/index.ts';
import { createControl } from './control.ts';
import { createTime } from './time.ts';
import { createWebhooks } from './webhooks.ts';
import { createWorld } from './open-world.ts';
import type { Settings, Atomically, World } from './world.ts';
import { readFileSync } from 'node:fs';
import { StripeError } from './api/errors.ts';
import { checkoutPages } from './hosted/checkout-page.ts';
import { invoicePages } from './hosted/invoice-page.ts';
import { closedPage } from './hosted/layout.ts';
import { portalPages } from './hosted/portal.ts';

/** A local Stripe: API, hosted pages, signed webhooks and a clock. Serve its app at the root. */
export function createStripe({ store, ...settings }: Settings & { store: Store }): { app: Hono; close(): void } {
  const webhooks = createWebhooks(store);
  const world = createWorld(store, settings, webhooks.enqueue);
  const time = createTime(world, webhooks, atomically);

  function atomically<T>(customer: string, work: () => T): T {
    world.customer = customer;
    try {
      return store.transaction(() => world.clock.held(work));
    } finally {
      world.customer = '';
      webhooks.flush();
    }
  }

  const app = new Hono();
  app.route('/', createApi(world, atomically));
  app.route('/', createControl({ world, webhooks, time, atomically }));
  app.route('/', createPages(world, atomically));
  return {
    app,
    close() {
      time.close();
      webhooks.close();
    },
  };
}

const style = readFileSync(new URL('./hosted/pages.css', import.meta.url), 'utf8');

/** The back button must show the current state. */
const preventCaching: MiddlewareHandler = async function preventCaching(c, next) {
  await next();
  c.header('Cache-Control', 'no-store');
};

/** The hosted pages: checkout, portal and invoice. */
function createPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/stripe/pages.css', (c) => c.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
  for (const path of ['/checkout/*', '/portal/*', '/invoice/*']) app.use(path, preventCaching);
  app.route('/', checkoutPages(world, atomically));
  app.route('/', portalPages(world, atomically));
  app.route('/', invoicePages(world, atomically));
  app.onError((error, c) => {
    if (!(error instanceof StripeError)) throw error;
    const title = error.status === 404 ? 'Page not found' : 'That did not work';
    return c.html(closedPage({ title, text: error.message, back: null }), error.status as 404);
  });
  return app;
}
