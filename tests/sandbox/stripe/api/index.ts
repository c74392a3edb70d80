import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { parse } from 'qs';
import requests from '../contract/requests.json' with { type: 'json' };
import type { Fields } from '../contract/shape.ts';
import { StripeError } from '../errors.ts';
import { newId } from '../ids.ts';
import { apiVersion } from '../version.ts';
import type { World } from '../world.ts';
import type { Call, Handler } from './call.ts';
import { decodeFields } from './decode.ts';
import { expand } from './expand.ts';
import { once } from './idempotency.ts';
import { routes } from './routes.ts';

/** Runs changes all together or not at all, then lets their events out. */
export type Atomically = <T>(work: () => T) => T;
export type Answer = { status: number; body: unknown };

const shapes = requests as unknown as Record<string, Fields>;
const formOptions = { depth: 10, arrayLimit: 500, parameterLimit: 5000, ignoreQueryPrefix: true };

/** Stripe's API under /v1. */
export function createApi(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.use('/v1/*', describe, authenticate(world));
  for (const [method, path, handler] of routes) {
    app.on(method, path, (c) => respond(c, world, atomically, { key: `${method} ${path}`, handler }));
  }
  app.all('/v1/*', (c) => {
    const message = `Unrecognized request URL (${c.req.method}: ${c.req.path}).`;
    return c.json({ error: { type: 'invalid_request_error', message } }, 404);
  });
  return app;
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
    return c.json({ error: { type: 'invalid_request_error', message } }, 401);
  };
}

async function respond(
  c: Context,
  world: World,
  atomically: Atomically,
  route: { key: string; handler: Handler },
): Promise<Response> {
  const { search } = new URL(c.req.url);
  const text = c.req.method === 'POST' ? await c.req.text() : search;
  const info = { id: c.res.headers.get('Request-Id'), idempotency_key: c.req.header('Idempotency-Key') ?? null };
  const request = {
    path: `${c.req.method} ${c.req.path}`,
    text,
    key: c.req.method === 'POST' ? info.idempotency_key : null,
  };
  const run = (): Answer => answer(world, atomically, info, () => handle(world, route, text, c.req.param()));
  const { replayed, status, body } = once(world.store, request, run);
  if (replayed) c.header('idempotent-replayed', 'true');
  if (request.key) c.header('Idempotency-Key', request.key);
  return c.json(body as object, status as 200);
}

function handle(
  world: World,
  { key, handler }: { key: string; handler: Handler },
  text: string,
  ids: Record<string, string>,
): unknown {
  const params = decodeFields(shapes[key] ?? {}, parse(text, formOptions)) as { expand?: string[] };
  const answer = handler(world, { params, ids } as Call<never>);
  return expand(world, answer, params.expand ?? []);
}

/** Refusals roll everything back, but for those that mark what did happen. */
function answer(world: World, atomically: Atomically, request: World['request'], work: () => unknown): Answer {
  world.request = request;
  try {
    return atomically(() => keeping(work));
  } catch (error) {
    if (error instanceof StripeError) return refusal(error, request.id);
    throw error;
  } finally {
    world.request = { id: null, idempotency_key: null };
  }

  function keeping(work: () => unknown): Answer {
    try {
      return { status: 200, body: work() };
    } catch (error) {
      if (error instanceof StripeError && error.keep) return refusal(error, request.id);
      throw error;
    }
  }
}

function refusal({ status, details }: StripeError, requestId: string | null): Answer {
  const doc = details.code && { doc_url: `https://stripe.com/docs/error-codes/${details.code.replaceAll('_', '-')}` };
  const log = `https://dashboard.stripe.com/test/logs/${requestId}`;
  return { status, body: { error: { ...details, ...doc, request_log_url: log } } };
}
