import { Hono, type Context } from 'hono';
import { expand } from './api/expand.ts';
import type { createTime } from './time.ts';
import { type Webhooks, queueOf } from './webhooks.ts';
import type { Atomically, World, CollectionSettings } from './world.ts';
import type { Customer } from './objects.ts';
import { authenticateInvoice, awaitsAuthentication } from './invoices/collect-invoice.ts';
import { changeDashboardSettings, dashboardSettings, type DashboardSettings } from './account.ts';
import { openDispute } from './payments/charges.ts';

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

  /** Oldest first. The real list of events cannot be limited to a customer. */
  app.get('/stripe/events', (c) => {
    const events = world.events.all().filter((event) => queueOf(event) === c.req.query('customer'));
    return c.json(events.toReversed().map((event) => expand(world, event, []) as object));
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

type PaymentParts = { world: World; atomically: Atomically };

/** Failing cards, disputes, authentications, and how the account collects failed renewals. */
function createPaymentControl({ world, atomically }: PaymentParts): Hono {
  const app = new Hono();

  app.post('/stripe/customers/:phone/card', async (c) => {
    const { declines } = await readBody(c);
    if (typeof declines !== 'boolean') return c.json({ error: 'Send {declines: boolean}' }, 400);
    const customer = findCustomer(world, c.req.param('phone'));
    const methods = world.paymentMethods.all().filter((method) => method.customer === customer?.id);
    if (!customer || methods.length === 0) return unknownCustomer(c);
    for (const method of methods) world.paymentMethods.change(method.id, ({ _ }) => void (_.declines = declines), null);
    return c.json({ declines });
  });

  // The last payment, or the one of `charge`.
  app.post('/stripe/customers/:phone/dispute', async (c) => {
    const customer = findCustomer(world, c.req.param('phone'));
    const { charge: wanted } = await readBody(c);
    const charge = world.charges
      .all()
      .filter(({ customer: payer, status, disputed }) => payer === customer?.id && status === 'succeeded' && !disputed)
      .find(({ id }) => wanted === undefined || wanted === id);
    if (!charge) return c.json({ error: 'This customer has no payment that could be disputed' }, 404);
    const cause = { reason: 'fraudulent', network_reason_code: '10.4' };
    return c.json(
      expand(
        world,
        atomically(charge.customer ?? '', () => openDispute(world, charge.id, cause)),
        [],
      ) as object,
    );
  });

  app.post('/stripe/customers/:phone/authenticate', async (c) => {
    const { succeeds } = await readBody(c);
    if (typeof succeeds !== 'boolean') return c.json({ error: 'Send {succeeds: boolean}' }, 400);
    const customer = findCustomer(world, c.req.param('phone'));
    const waiting = world.invoices
      .all()
      .find((invoice) => invoice.customer === customer?.id && awaitsAuthentication(world, invoice));
    if (!waiting) return c.json({ error: 'No open invoice of this customer waits for authentication' }, 404);
    return c.json(
      expand(
        world,
        atomically(waiting.customer, () => authenticateInvoice(world, waiting.id, { succeeds })),
        [],
      ) as object,
    );
  });

  app.get('/stripe/settings', (c) => {
    const customer = scopeOf(world, c.req.query('phone'));
    return customer === undefined ? unknownCustomer(c) : c.json(world.collection(customer));
  });
  app.put('/stripe/settings', async (c) => {
    const { retries, afterRetries, phone, ...others } = await readBody(c);
    const customer = scopeOf(world, phone);
    if (customer === undefined) return unknownCustomer(c);
    const fits =
      isOneOf(retries, ['two-weeks', 'five-days']) && isOneOf(afterRetries, ['cancel', 'unpaid', 'past_due']);
    if (!fits || Object.keys(others).length > 0) {
      const error =
        "Send {retries?: 'two-weeks' | 'five-days', afterRetries?: 'cancel' | 'unpaid' | 'past_due', phone?}";
      return c.json({ error }, 400);
    }
    const changes = { ...(retries !== undefined && { retries }), ...(afterRetries !== undefined && { afterRetries }) };
    return c.json(world.setCollection(changes as Partial<CollectionSettings>, customer));
  });

  app.get('/stripe/dashboard', (c) => c.json(dashboardSettings(world)));
  app.put('/stripe/dashboard', async (c) => {
    const changes = await readBody(c);
    if (isDashboard(changes)) return c.json(changeDashboardSettings(world, changes));
    const error = 'Send {chargesEnabled?: boolean} and icon?, statementDescriptor?, supportEmail?: text or null';
    return c.json({ error }, 400);
  });
  return app;
}

const dashboardTexts = new Set(['icon', 'statementDescriptor', 'supportEmail']);

function isDashboard(changes: object): changes is Partial<DashboardSettings> {
  return Object.entries(changes).every(([name, value]) =>
    name === 'chargesEnabled'
      ? typeof value === 'boolean'
      : dashboardTexts.has(name) && (value === null || typeof value === 'string'),
  );
}

function isOneOf(value: unknown, allowed: string[]): boolean {
  return value === undefined || (typeof value === 'string' && allowed.includes(value));
}

async function readBody(c: Context): Promise<Record<string, unknown>> {
  const body = await c.req.json<unknown>().catch(() => ({}));
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

function unknownCustomer(c: Context): Response {
  return c.json({ error: 'Stripe knows no such customer, or no card of theirs' }, 404);
}

/** The customer with this number, else the last deleted one with it. */
function findCustomer(world: World, phone: string): Customer | undefined {
  const digits = phone.replaceAll(/\D/g, '');
  const found = world.customers.all().filter(({ _ }) => _.phone !== null && _.phone.replaceAll(/\D/g, '') === digits);
  return found.find((customer) => !customer.deleted) ?? found[0];
}

/** The customer with this number, '' for everybody if none is named, undefined if it is unknown. */
function scopeOf(world: World, phone: unknown): string | undefined {
  if (phone === undefined) return '';
  return typeof phone === 'string' ? findCustomer(world, phone)?.id : undefined;
}
