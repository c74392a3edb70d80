import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { parse } from 'qs';
import byHand from '../contract/requests-by-hand.json' with { type: 'json' };
import requests from '../contract/requests.json' with { type: 'json' };
import type { Fields } from '../contract/shape.ts';
import { newId } from '../ids.ts';
import { apiVersion } from '../version.ts';
import type { Handler, Atomically } from './call.ts';
import { noFault, faultResponse } from './fault.ts';
import { createIdempotency } from './idempotency.ts';
import { routes } from './routes.ts';
import { runRequest } from './run-request.ts';
import type { World } from '../types/world.ts';

const generated = requests as unknown as Record<string, Fields>;
const additions = byHand as unknown as Record<string, Fields>;
const formOptions = { depth: 10, arrayLimit: 500, parameterLimit: 5000, ignoreQueryPrefix: true };

/** Stripe's API under /v1. */
export function createApi(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  const runOnce = createIdempotency(world.store);
  app.use('/v1/*', describe, authenticate(world), checkVersion);
  for (const [method, path, handler] of routes) {
    app.on(method, path, (c) => respond(c, `${method} ${path}`, handler));
  }
  app.all('/v1/*', (c) => {
    const message = `Unrecognized request URL (${c.req.method}: ${c.req.path}). If you are trying to list objects, remove the trailing slash. If you are trying to retrieve an object, make sure you passed a valid (non-empty) identifier in your code.`;
    return c.json({ error: { type: 'invalid_request_error', message } }, 404);
  });
  return app;

  async function respond(c: Context, route: string, handler: Handler): Promise<Response> {
    const isPost = c.req.method === 'POST';
    const text = isPost ? await c.req.text() : new URL(c.req.url).search;
    const id = c.res.headers.get('Request-Id');
    const given = c.req.header('Idempotency-Key') ?? null;
    const key = isPost ? given : null;
    const fault = c.get('fault') ?? noFault;
    const { replayOf, status, body } = await runOnce(
      { id, key, path: `${c.req.method} ${c.req.path}`, text },
      async () => {
        if (fault.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
        if (fault.status !== undefined) return faultResponse(fault.status);
        return runRequest(world, atomically, {
          info: { id, idempotency_key: given, unknownCustomers: fault.unknownCustomer },
          fields: { ...generated[route], ...additions[route] },
          params: parse(text, formOptions),
          ids: c.req.param(),
          handler,
        });
      },
    );
    if (key !== null) c.header('Idempotency-Key', key);
    if (replayOf !== undefined) {
      c.header('idempotent-replayed', 'true');
      if (replayOf) c.header('Original-Request', replayOf);
    }
    return c.json(body as object, status as 200);
  }
}

const describe: MiddlewareHandler = async function describe(c, next) {
  c.header('Request-Id', newId('req_', 14));
  c.header('Stripe-Version', c.req.header('Stripe-Version') ?? apiVersion);
  await next();
};

function authenticate({ settings }: World): MiddlewareHandler {
  return async function authenticate(c, next) {
    const [scheme, credentials = ''] = (c.req.header('Authorization') ?? '').split(' ');
    const key = scheme === 'Basic' ? Buffer.from(credentials, 'base64').toString().split(':')[0] : credentials;
    if (key === settings.secretKey) return next();
    const message = key
      ? `Invalid API Key provided: ${key.slice(0, 8)}****${key.slice(-4)}`
      : 'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.';
    c.header('WWW-Authenticate', 'Basic realm="Stripe"');
    return c.json({ error: { type: 'invalid_request_error', message } }, 401);
  };
}

/** The local Stripe supports one API version; without the header the account's version applies. */
const checkVersion: MiddlewareHandler = async function checkVersion(c, next) {
  const wanted = c.req.header('Stripe-Version') ?? apiVersion;
  if (wanted === apiVersion) return next();
  return c.json({ error: { type: 'invalid_request_error', message: `Invalid Stripe API version: ${wanted}` } }, 400);
};
