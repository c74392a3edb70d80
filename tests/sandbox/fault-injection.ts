import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono, type MiddlewareHandler, type Next } from 'hono';
import * as v from 'valibot';
import { integer, readControl } from './stripe/control.ts';
import { newId } from './stripe/table.ts';

export const services = ['libsql', 'stripe', 'whatsapp', 'bot', 'push', 'mail'] as const;
export type Service = (typeof services)[number];

const text = v.exactOptional(v.string());
const flag = v.exactOptional(v.literal(true));
const Fault = v.pipe(
  v.strictObject({
    status: v.exactOptional(integer(200, 599)),
    delayMs: v.exactOptional(integer(0, 600_000)),
    /** Requests wait until the fault is removed or replaced; then the rest of the fault applies. */
    hold: flag,
    /** Closes the connection without handling the request. */
    drop: flag,
    /** Handles the request, then closes the connection without a response. */
    cut: flag,
    /** Only requests whose path starts with it are affected. */
    path: text,
    /** Only requests whose address or body contains it are affected: the digits of a phone, the id of a user. */
    match: text,
    /** The target of a redirecting `status`. */
    location: text,
    /** Of Stripe alone: the failing status is stored under the request's idempotency key. */
    remember: flag,
    /** Of Stripe alone: every customer is unknown. */
    unknownCustomer: flag,
    /** The service's own code of its error. The database reports one without a `status` inside its 200. */
    code: v.exactOptional(v.union([v.string(), integer(1, 999_999)])),
    /** Of the database alone: with `code`, only statements that write fail. */
    writes: flag,
  }),
  v.check(({ status = 0, location }) => location === undefined || (status >= 300 && status < 400)),
  v.check(({ status = 500, remember }) => !remember || status >= 400),
);
const isOfStripe = (fault: Fault | null | undefined) =>
  Boolean(fault?.remember ?? fault?.unknownCustomer);
const isOfDatabase = (fault: Fault | null | undefined) => Boolean(fault?.writes);
const Faults = v.pipe(
  v.record(v.picklist(services), v.nullable(Fault)),
  v.check((faults) =>
    services.every((service) => service === 'stripe' || !isOfStripe(faults[service])),
  ),
  v.check((faults) =>
    services.every((service) => service === 'libsql' || !isOfDatabase(faults[service])),
  ),
);

/** The fault of a service; the schema says what its fields do. */
export type Fault = v.InferOutput<typeof Fault>;
/** A fault in effect; one service has at most one fault of each `match`. */
type ActiveFault = {
  service: Service;
  fault: Fault;
  held: number;
  removed: Promise<void>;
  remove: () => void;
};

/** What the database reports inside its 200, as a plan's limit or a full disk makes it. */
export type Refusal = { code: string; writesOnly: boolean };

declare module 'hono' {
  interface ContextVariableMap {
    refusal?: Refusal;
  }
}

/** Counts the Worker's requests to each service, and breaks or slows them on demand. */
export function createFaultInjection() {
  const active = new Map<string, ActiveFault>();
  const counts = new Map<Service, number>();

  function guard(service: Service): MiddlewareHandler {
    return async function injectFault(c, next) {
      counts.set(service, (counts.get(service) ?? 0) + 1);
      const own = [...active.values()].filter((each) => each.service === service);
      const found = await findFault(c, own);
      if (!found) return next();
      if (found.fault.hold) {
        found.held += 1;
        await found.removed;
      }
      return affect(c, next, found);
    };
  }

  return { guard, control: control(active, counts) };
}

/** The fault that affects a request; one of its user precedes one of the whole service. */
async function findFault(c: Context, faults: ActiveFault[]): Promise<ActiveFault | undefined> {
  const onPath = faults.filter(({ fault }) => c.req.path.startsWith(fault.path ?? ''));
  const matching = onPath.filter(({ fault }) => fault.match !== undefined);
  const text =
    matching.length > 0 ? `${c.req.url}\n${Buffer.from(await c.req.arrayBuffer()).toString()}` : '';
  return (
    matching.find(({ fault }) => text.includes(fault.match!)) ??
    onPath.find((each) => !matching.includes(each))
  );
}

async function affect(
  c: Context,
  next: Next,
  { service, fault }: ActiveFault,
): Promise<Response | undefined> {
  const { delayMs = 0, drop, cut, status, remember, unknownCustomer = false, code } = fault;
  // The local Stripe itself delays and stores failures, since an idempotency key is in use during a delayed request.
  if (service === 'stripe' && !drop && (remember || status === undefined))
    c.set('fault', {
      delayMs,
      unknownCustomer,
      ...(remember && { status: status ?? 500 }),
    });
  else {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (drop) return closeConnection(c);
    if (status !== undefined)
      return failing(service, {
        ...fault,
        status,
      });
    if (service === 'libsql' && code !== undefined)
      c.set('refusal', {
        code: String(code),
        writesOnly: fault.writes === true,
      });
  }
  await next();
  if (cut) c.res = closeConnection(c);
  return undefined;
}

function closeConnection(c: Context): Response {
  (c.env as HttpBindings).incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/** The response of a broken service, in its own format. */
function failing(service: Service, { status, location, code }: Fault & { status: number }) {
  const headers: Record<string, string> = {
    ...(location !== undefined && { location }),
    ...(service === 'stripe' && { 'request-id': newId('req_', 14) }),
  };
  const isBodiless = status === 204 || status === 205 || status === 304;
  if (isBodiless) return new Response(null, { status, headers });
  return Response.json({ error: errorOf(service, status, code) }, { status, headers });
}

function errorOf(service: Service, status: number, code: Fault['code']): object | string {
  if (service === 'stripe') {
    const details = code !== undefined && { code: String(code) };
    return {
      type: stripeErrorType(status),
      message: 'Out of order',
      ...details,
    };
  }
  if (service !== 'whatsapp') return 'Out of order';
  const known = code ?? 131_000;
  return {
    message: `(#${known}) Something went wrong`,
    type: 'OAuthException',
    code: known,
    fbtrace_id: 'x',
  };
}

/** Stripe's types of errors: 402 is a declined card, another 4xx a request that it refuses. */
function stripeErrorType(status: number): string {
  if (status === 402) return 'card_error';
  return status >= 400 && status < 500 ? 'invalid_request_error' : 'api_error';
}

function control(active: Map<string, ActiveFault>, counts: Map<Service, number>): Hono {
  const app = new Hono();
  app.put('/faults', async (c) => {
    const wanted = await readControl(c, Faults);
    for (const name of services)
      if (wanted[name] !== undefined) replace(active, name, wanted[name]);
    return c.json({ success: true });
  });
  app.get('/faults/held', (c) =>
    c.json(
      [...active.values()].map(({ service, fault, held }) => ({
        service,
        match: fault.match ?? null,
        held,
      })),
    ),
  );
  app.get('/stats', (c) =>
    c.json(Object.fromEntries(services.map((name) => [name, counts.get(name) ?? 0]))),
  );
  app.delete('/stats', (c) => {
    counts.clear();
    return c.json({ success: true });
  });
  return app;
}

/** `null` removes every fault of a service; a fault without an effect removes the one of the same `match`. */
function replace(active: Map<string, ActiveFault>, service: Service, fault: Fault | null): void {
  const keyOf = ({ match }: Fault) => (match === undefined ? service : `${service} ${match}`);
  for (const [key, { service: of, remove }] of active) {
    if (of !== service || (fault && key !== keyOf(fault))) continue;
    active.delete(key);
    remove();
  }
  if (!fault || Object.keys(fault).every((name) => name === 'match' || name === 'path')) return;
  const { promise: removed, resolve: remove } = Promise.withResolvers<void>();
  active.set(keyOf(fault), {
    service,
    fault,
    held: 0,
    removed,
    remove,
  });
}
