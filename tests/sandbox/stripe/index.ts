import { Hono } from 'hono';
import type { Store } from '../store.ts';
import { createApi } from './api/index.ts';
import { createControl } from './control.ts';
import { createPages } from './pages/index.ts';
import { createTime } from './time.ts';
import { createWebhooks } from './webhooks/index.ts';
import { createWorld } from './world.ts';
import type { Settings } from './types/world.ts';

type Options = Pick<Settings, 'sandboxUrl' | 'siteUrl' | 'secretKey' | 'webhookSecret' | 'collection'> & {
  store: Store;
  /** The merchant's name on the hosted pages. */
  businessName?: string;
};

/** A local Stripe: API, hosted pages, signed webhooks and a clock. Serve its app at the root. */
export function createStripe({ store, businessName = 'Solace', ...options }: Options): {
  app: Hono;
  close(): void;
} {
  const webhooks = createWebhooks(store);
  const world = createWorld(store, { ...options, businessName }, webhooks.enqueue);
  const time = createTime(world, webhooks, atomically);

  function atomically<T>(customer: string, work: () => T): T {
    world.customer = customer;
    try {
      return store.transaction(work);
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
