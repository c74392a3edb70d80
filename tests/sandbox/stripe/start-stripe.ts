import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { createStripe } from './index.ts';
import { listen } from './listen.ts';
import { openStore } from './store.ts';

export type Options = {
  /** 0 selects a free one. */
  port: number;
  /** The file of its state, or ':memory:'. */
  file: string;
  /** The merchant's site, to which the portal returns if its session names no address. */
  siteUrl: string;
  secretKey: string;
  /** The secret of every webhook endpoint. */
  webhookSecret: string;
};

/** Starts the local Stripe alone. Its address is that of API, hosted pages and control calls. */
export async function startStripe({ port, file, ...merchant }: Options) {
  const server = await listen(port);
  const url = `http://localhost:${server.port}`;
  const store = openStore(file);
  const stripe = createStripe({
    store,
    sandboxUrl: url,
    ...merchant,
  });
  const app = new Hono();
  app.route('/', stripe.app);
  app.notFound((c) => c.json({ error: `There is no ${c.req.method} ${c.req.path}` }, 404));
  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse();
    console.error(error);
    return c.json({ error: error.message }, 500);
  });
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  server.serve((request, response) => void listener(request, response));
  return {
    url,
    close: async () => {
      await server.close();
      stripe.close();
      store.close();
    },
  };
}
