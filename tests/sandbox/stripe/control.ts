import { type Context, Hono } from 'hono';
import { expand } from './api/expand.ts';
import type { Customer } from './objects/customers.ts';
import type { createTime } from './time.ts';
import type { Webhooks } from './webhooks/index.ts';
import { laneOf } from './webhooks/index.ts';
import type { World } from './world.ts';

type Body = Record<string, unknown>;
type Parts = { world: World; webhooks: Webhooks; time: ReturnType<typeof createTime> };

const longestJump = 400 * 86_400;

/** What only the local Stripe has: a look inside, a clock to turn, cards to break, webhooks to hold. */
export function createControl({ world, webhooks, time }: Parts): Hono {
  const app = new Hono();

  app.get('/stripe/customers/:phone', (c) => {
    const customer = findCustomer(world, c.req.param('phone'));
    return customer ? c.json(holdings(world, customer)) : unknownCustomer(c);
  });

  app.post('/stripe/customers/:phone/card', async (c) => {
    const { declines } = await readBody(c);
    if (typeof declines !== 'boolean') return c.json({ error: 'Send {declines: boolean}' }, 400);
    const customer = findCustomer(world, c.req.param('phone'));
    const methods = world.paymentMethods.all().filter((method) => method.customer === customer?.id);
    if (!customer || methods.length === 0) return unknownCustomer(c);
    for (const method of methods) world.paymentMethods.change(method.id, ({ _ }) => void (_.declines = declines), null);
    return c.json({ declines });
  });

  app.get('/stripe/clock', (c) => c.json({ now: world.now() }));
  app.post('/stripe/clock', async (c) => {
    const { advanceSeconds: seconds } = await readBody(c);
    const isFit = Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= longestJump;
    if (!isFit) return c.json({ error: 'Send {advanceSeconds: 0..34560000}' }, 400);
    return c.json({ now: await time.advance(Number(seconds)) });
  });

  app.put('/stripe/webhooks', async (c) => {
    const { mode } = await readBody(c);
    if (mode !== 'deliver' && mode !== 'hold') return c.json({ error: "Send {mode: 'deliver' | 'hold'}" }, 400);
    await webhooks.setMode(mode);
    return c.json({ mode });
  });
  app.post('/stripe/webhooks/redeliver', async (c) => {
    const { order = 'original', times = 1, phone } = await readBody(c);
    if (order !== 'original' && order !== 'reversed')
      return c.json({ error: "order is 'original' or 'reversed'" }, 400);
    if (!Number.isInteger(times) || Number(times) < 1 || Number(times) > 20)
      return c.json({ error: 'times is 1..20' }, 400);
    const events = eventsOf(world, phone, order);
    let sent = 0;
    for (let round = 0; round < Number(times); round++)
      sent += await webhooks.redeliver(events, world.webhookEndpoints.all());
    return c.json({ sent });
  });
  return app;
}

async function readBody(c: Context): Promise<Body> {
  const body = await c.req.json<unknown>().catch(() => ({}));
  return typeof body === 'object' && body !== null ? (body as Body) : {};
}

function unknownCustomer(c: Context): Response {
  return c.json({ error: 'Stripe knows no such customer, or no card of theirs' }, 404);
}

/** Whoever has this number now, else whoever had it last. */
function findCustomer(world: World, phone: string): Customer | undefined {
  const digits = phone.replaceAll(/\D/g, '');
  const found = world.customers.all().filter(({ _ }) => _.phone !== null && _.phone.replaceAll(/\D/g, '') === digits);
  return found.find((customer) => !customer.deleted) ?? found[0];
}

function holdings(world: World, customer: Customer): unknown {
  const { id } = customer;
  const own = <T extends { customer: string }>(docs: T[]) => docs.filter((doc) => doc.customer === id);
  const present = customer.deleted ? { id, object: 'customer', deleted: true } : customer;
  const subscriptions = own(world.subscriptions.all());
  const schedules = own(world.schedules.all());
  return expand(world, { customer: present, subscriptions, schedules, invoices: own(world.invoices.all()) }, []);
}

function eventsOf(world: World, phone: unknown, order: 'original' | 'reversed') {
  const customer = typeof phone === 'string' ? findCustomer(world, phone)?.id : undefined;
  const events = world.events.all().filter((event) => phone === undefined || laneOf(event) === customer);
  return order === 'reversed' ? events : events.toReversed();
}
