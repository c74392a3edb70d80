import { outOfOrder, type Service, services } from './out-of-order.ts';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono, type MiddlewareHandler } from 'hono';

/** `drop` hangs up before the work is done, `cut` after it. */
type Fault = { status?: number; delayMs?: number; drop?: true; cut?: true };

/** Counts the Worker's requests to each service, and breaks or slows them on demand. */
export function createGate() {
  const faults = new Map<Service, Fault>();
  const counts = new Map<Service, number>();

  function guard(service: Service): MiddlewareHandler {
    return async function gate(c, next) {
      counts.set(service, (counts.get(service) ?? 0) + 1);
      const { delayMs = 0, drop, cut, status } = faults.get(service) ?? {};
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      if (drop) return hangUp(c);
      if (status !== undefined) return outOfOrder(service, status);
      await next();
      if (cut) c.res = hangUp(c);
      return undefined;
    };
  }

  return { guard, control: control(faults, counts) };
}

export type Gate = ReturnType<typeof createGate>;

function control(faults: Map<Service, Fault>, counts: Map<Service, number>): Hono {
  const app = new Hono();
  app.get('/faults', (c) => c.json(Object.fromEntries(services.map((name) => [name, faults.get(name) ?? null]))));
  app.put('/faults', async (c) => {
    const wanted = await c.req.json<unknown>().catch(() => undefined);
    const complaint = findComplaint(wanted);
    if (complaint) return c.json({ error: complaint }, 400);
    for (const [name, fault] of Object.entries(wanted as Record<Service, Fault | null>)) {
      if (fault) faults.set(name as Service, fault);
      else faults.delete(name as Service);
    }
    return c.json(Object.fromEntries(services.map((name) => [name, faults.get(name) ?? null])));
  });
  app.get('/stats', (c) => c.json(Object.fromEntries(services.map((name) => [name, counts.get(name) ?? 0]))));
  app.delete('/stats', (c) => {
    counts.clear();
    return c.json({ success: true });
  });
  return app;
}

function findComplaint(wanted: unknown): string | undefined {
  if (typeof wanted !== 'object' || wanted === null) return 'Send {libsql?, stripe?, whatsapp?, bot?}';
  for (const [name, fault] of Object.entries(wanted)) {
    if (!services.includes(name as Service)) return `There is no service called ${name}`;
    if (fault !== null && !isFault(fault))
      return `${name} must be null or {status?: 200..599, delayMs?, drop?: true, cut?: true}`;
  }
  return undefined;
}

function isFault(value: unknown): value is Fault {
  if (typeof value !== 'object' || value === null) return false;
  const { status, delayMs, drop, cut, ...rest } = value as Record<string, unknown>;
  return (
    inRange(status, 200, 599) &&
    inRange(delayMs, 0, 600_000) &&
    [drop, cut].every((each) => each === undefined || each === true) &&
    Object.keys(rest).length === 0
  );
}

function inRange(value: unknown, least: number, most: number): boolean {
  return value === undefined || (Number.isInteger(value) && Number(value) >= least && Number(value) <= most);
}

function hangUp(c: Context): Response {
  (c.env as HttpBindings).incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}
