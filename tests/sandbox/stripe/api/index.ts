import { createHash } from 'node:crypto';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { parse } from 'qs';
import type { Store } from '../store.ts';
import requests from '../parameters/requests.json' with { type: 'json' };
import { newId } from '../table.ts';
import {
  apiVersion,
  type Handler,
  type World,
  type Atomically,
  type Call,
  type ApiResponse,
} from '../world.ts';
import { day, realSeconds } from '../clock.ts';
import { type Fields, decodeFields, expand } from './fields.ts';
import { routes } from './routes.ts';
import { StripeError } from './errors.ts';

const parameters = requests as unknown as Record<string, Fields>;
const formOptions = {
  depth: 10,
  arrayLimit: 500,
  parameterLimit: 5000,
  ignoreQueryPrefix: true,
};

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
    return c.json(
      {
        error: {
          type: 'invalid_request_error',
          message,
        },
      },
      404,
    );
  });
  return app;

  async function respond(c: Context, route: string, handler: Handler): Promise<Response> {
    const isPost = c.req.method === 'POST';
    const text = isPost ? await c.req.text() : new URL(c.req.url).search;
    const key = isPost ? (c.req.header('Idempotency-Key') ?? null) : null;
    const fault = c.get('fault') ?? noFault;
    const request = {
      unknownCustomers: fault.unknownCustomer,
      fields: parameters[route] ?? {},
      params: parse(text, formOptions),
      ids: c.req.param(),
      path: c.req.path,
      handler,
    };
    const { isReplay, status, body } = await runOnce(
      { key, path: `${c.req.method} ${c.req.path}`, text },
      async () => {
        if (fault.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
        if (fault.status !== undefined)
          return { status: fault.status, body: { error: outOfOrder } };
        return runRequest(world, atomically, request);
      },
    );
    // The clock by which this customer is billed.
    const now = world.clock.now(customerOf(world, request));
    c.header('Date', new Date(now * 1000).toUTCString());
    if (key !== null) c.header('Idempotency-Key', key);
    if (isReplay) c.header('idempotent-replayed', 'true');
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
    const key = c.req.header('Authorization')?.replace(/^Bearer /, '');
    if (key === settings.secretKey) return next();
    const message = key
      ? `Invalid API Key provided: ${key.slice(0, 8)}****${key.slice(-4)}`
      : 'You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth.';
    c.header('WWW-Authenticate', 'Basic realm="Stripe"');
    return c.json(
      {
        error: {
          type: 'invalid_request_error',
          message,
        },
      },
      401,
    );
  };
}

/** The local Stripe supports one API version; without the header the account's version applies. */
const checkVersion: MiddlewareHandler = async function checkVersion(c, next) {
  const wanted = c.req.header('Stripe-Version') ?? apiVersion;
  if (wanted === apiVersion) return next();
  return c.json(
    {
      error: {
        type: 'invalid_request_error',
        message: `Invalid Stripe API version: ${wanted}`,
      },
    },
    400,
  );
};

type Request = Call &
  Pick<World, 'unknownCustomers'> & {
    fields: Fields;
    handler: Handler;
  };

/** The response to one request. An error rolls back every change, unless its `keep` is set. */
function runRequest(world: World, atomically: Atomically, request: Request): ApiResponse {
  world.unknownCustomers = request.unknownCustomers;
  try {
    return atomically(customerOf(world, request), () => keeping(() => handle(world, request)));
  } catch (error) {
    if (error instanceof StripeError) return refusal(world, error);
    throw error;
  } finally {
    world.unknownCustomers = false;
  }

  function keeping(work: () => unknown): ApiResponse {
    try {
      return { status: 200, body: work() };
    } catch (error) {
      if (error instanceof StripeError && error.keep) return refusal(world, error);
      throw error;
    }
  }
}

function handle(world: World, { fields, params: given, ids, path, handler }: Request): unknown {
  const params = decodeFields(fields, given) as { expand?: string[] };
  const found = handler(world, { params, ids, path } as Call<never>);
  return expand(world, found, params.expand ?? []);
}

/** The parameters that lead to the customer whose clock applies to a request. */
const references = [
  'customer',
  'subscription',
  'from_subscription',
  'invoice',
  'payment_intent',
  'charge',
];

function customerOf(world: World, { ids, params }: Request): string {
  const given = params as Record<string, unknown>;
  const named = [ids['id'], ...references.map((name) => given[name])];
  return (
    named.map((id) => (typeof id === 'string' ? world.ownerOf(id) : '')).find((id) => id !== '') ??
    ''
  );
}

function refusal(world: World, { status, details }: StripeError): ApiResponse {
  return { status, body: { error: expand(world, details, []) } };
}

/** The part of a fault that the local Stripe applies; `fault-injection.ts` applies the rest before it. */
type StripeFault = {
  delayMs: number;
  /** Requests fail with this status, which is stored under their idempotency keys. */
  status?: number;
  unknownCustomer: boolean;
};

const noFault: StripeFault = { delayMs: 0, unknownCustomer: false };

declare module 'hono' {
  interface ContextVariableMap {
    fault?: StripeFault;
  }
}

const outOfOrder = { type: 'api_error', message: 'Out of order' };

type KeyedRequest = {
  key: string | null;
  path: string;
  text: string;
};
type StoredResponse = ApiResponse & {
  path: string;
  digest: string;
  at: number;
};
type Outcome = ApiResponse & { isReplay?: true };

const collection = 'stripe/idempotency_keys';
const longestKey = 255;

/**
 * Runs a request once for each key. For a day a repeated request gets the stored response, 500s included. Refused
 * parameters are not stored. While the first request of a key runs, others get 409.
 */
function createIdempotency(store: Store) {
  const running = new Set<string>();

  return async function runOnce(
    request: KeyedRequest,
    run: () => Promise<ApiResponse>,
  ): Promise<Outcome> {
    const { key, path, text } = request;
    if (key === null) return run();
    if (key.length < 1 || key.length > longestKey) return keyRefusal(400, wrongLength(key));
    const digest = createHash('sha256').update(text).digest('hex');
    const stored = store.get<StoredResponse>(collection, key);
    if (stored && stored.at + day > realSeconds()) {
      const isSame = stored.path === path && stored.digest === digest;
      return isSame
        ? {
            status: stored.status,
            body: stored.body,
            isReplay: true,
          }
        : keyRefusal(400, reused(key));
    }
    if (running.has(key)) return keyRefusal(409, inUse(key), 'idempotency_key_in_use');
    running.add(key);
    try {
      const response = await run();
      if (isStored(response)) {
        store.put(collection, key, {
          ...response,
          path,
          digest,
          at: realSeconds(),
        } satisfies StoredResponse);
      }
      return response;
    } finally {
      running.delete(key);
    }
  };
}

/** Stripe stores a response if the endpoint has accepted the parameters. */
function isStored({ status, body }: ApiResponse): boolean {
  if (status !== 400) return status !== 401 && status !== 409 && status !== 429;
  const { code, param } =
    (
      body as {
        error?: {
          code?: string;
          param?: string;
        };
      }
    ).error ?? {};
  return param === undefined || code === 'resource_missing';
}

const wrongLength = ({ length }: string) =>
  `Idempotent key length is ${length} characters long, which is outside accepted lengths. Idempotent Keys must be 1-${longestKey} characters long. If you're looking for a decent generator, try using a UUID defined by IETF RFC 4122.`;
const reused = (key: string) =>
  `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`;
const inUse = (key: string) =>
  `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`;

function keyRefusal(status: number, message: string, code?: string): ApiResponse {
  return {
    status,
    body: {
      error: {
        type: 'idempotency_error',
        message,
        ...(code && { code }),
      },
    },
  };
}
