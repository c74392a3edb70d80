import { Hono } from 'hono';
import { expand } from './api/expand.ts';
import { authenticateInvoice, awaitsAuthentication } from './billing/authenticate-invoice.ts';
import { findCustomer, readBody, scopeOf, unknownCustomer } from './control-request.ts';
import { changeDashboardSettings, dashboardSettings, type DashboardSettings } from './objects/account.ts';
import { openDispute } from './objects/disputes.ts';
import type { Atomically } from './api/call.ts';
import type { CollectionSettings, World } from './types/world.ts';

type Parts = { world: World; atomically: Atomically };

/** Failing cards, disputes, authentications, and how the account collects failed renewals. */
export function createPaymentControl({ world, atomically }: Parts): Hono {
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

  app.post('/stripe/customers/:phone/dispute', (c) => {
    const customer = findCustomer(world, c.req.param('phone'));
    const charge = world.charges
      .all()
      .find(({ customer: payer, status, disputed }) => payer === customer?.id && status === 'succeeded' && !disputed);
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
