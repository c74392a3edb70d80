import { Hono } from 'hono';
import { expand } from './api/expand.ts';
import { createPaymentControl } from './control-payments.ts';
import { findCustomer, readBody, scopeOf, unknownCustomer } from './control-request.ts';
import type { createTime } from './time.ts';
import { type Webhooks, queueOf } from './webhooks/index.ts';
import type { Atomically } from './api/call.ts';
import type { Customer } from './types/customers.ts';
import type { World } from './types/world.ts';

type Parts = { world: World; webhooks: Webhooks; time: ReturnType<typeof createTime>; atomically: Atomically };

const mostSeconds = 400 * 86_400;

/** The control calls that the real Stripe lacks: stored objects, clock, webhook mode, payments. */
export function createControl({ world, webhooks, time, atomically }: Parts): Hono {
  const app = new Hono();
  app.route('/', createPaymentControl({ world, atomically }));

  app.get('/stripe/customers/:phone', (c) => {
    const customer = findCustomer(world, c.req.param('phone'));
    return customer ? c.json(objectsOf(world, customer)) : unknownCustomer(c);
  });

  app.get('/stripe/clock', (c) => {
    const customer = scopeOf(world, c.req.query('phone'));
    return customer === undefined ? unknownCustomer(c) : c.json({ now: world.clock.now(customer) });
  });
  app.post('/stripe/clock', async (c) => {
    const { advanceSeconds: seconds, phone } = await readBody(c);
    const isValid = Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= mostSeconds;
    if (!isValid) return c.json({ error: 'Send {advanceSeconds: 0..34560000, phone?}' }, 400);
    const customer = scopeOf(world, phone);
    if (customer === undefined) return unknownCustomer(c);
    return c.json({ now: await time.advance(Number(seconds), customer) });
  });

  app.put('/stripe/webhooks', async (c) => {
    const { mode, phone } = await readBody(c);
    if (mode !== 'deliver' && mode !== 'hold') return c.json({ error: "Send {mode: 'deliver' | 'hold', phone?}" }, 400);
    const customer = scopeOf(world, phone);
    if (customer === undefined) return unknownCustomer(c);
    await webhooks.setMode(mode, customer);
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

function objectsOf(world: World, customer: Customer): unknown {
  const { id } = customer;
  const own = <T extends { customer: string }>(docs: T[]) => docs.filter((doc) => doc.customer === id);
  const present = customer.deleted ? { id, object: 'customer', deleted: true } : customer;
  const subscriptions = own(world.subscriptions.all());
  const schedules = own(world.schedules.all());
  return expand(world, { customer: present, subscriptions, schedules, invoices: own(world.invoices.all()) }, []);
}

function eventsOf(world: World, phone: unknown, order: 'original' | 'reversed') {
  const customer = typeof phone === 'string' ? findCustomer(world, phone)?.id : undefined;
  const events = world.events.all().filter((event) => phone === undefined || queueOf(event) === customer);
  return order === 'reversed' ? events : events.toReversed();
}
