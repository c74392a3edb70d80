import { readFileSync } from 'node:fs';
import { Hono, type MiddlewareHandler } from 'hono';
import * as v from 'valibot';
import type { Store } from './store.ts';
import { controlError, integer, readControl } from './control.ts';
import { createApi } from './api/index.ts';
import { createTime } from './time.ts';
import { createWebhooks, type Webhooks, queueOf } from './webhooks.ts';
import { createWorld } from './open-world.ts';
import type { Settings, Atomically, World } from './world.ts';
import { StripeError } from './api/errors.ts';
import { checkoutPages } from './hosted/checkout.ts';
import { invoicePages } from './invoices/invoices.ts';
import { closedPage } from './hosted/layout.ts';
import { portalPages } from './hosted/portal.ts';
import { changeDashboardSettings, dashboardSettings } from './account.ts';
import { expand } from './api/fields.ts';
import { authenticateInvoice, awaitsAuthentication } from './invoices/collect-invoice.ts';
import type { Customer, Invoice } from './objects.ts';
import { openDispute } from './payments/charges.ts';
import { refundOutcomes, setRefundOutcome } from './payments/refunds.ts';

/** A local Stripe: API, hosted pages, signed webhooks and a clock. Serve its app at the root. */
export function createStripe({ store, ...settings }: Settings & { store: Store }): {
  app: Hono;
  close(): void;
} {
  const webhooks = createWebhooks(store);
  const world = createWorld(store, settings, webhooks.enqueue);
  const time = createTime(world, webhooks, atomically);

  function atomically<T>(customer: string, work: () => T): T {
    world.customer = customer;
    try {
      return store.transaction(() => world.clock.held(work));
    } finally {
      world.customer = '';
      webhooks.flush();
    }
  }

  const app = new Hono();
  app.route('/', createApi(world, atomically));
  app.route(
    '/',
    createControl({
      world,
      webhooks,
      time,
      atomically,
    }),
  );
  app.route('/', createPages(world, atomically));
  return {
    app,
    close() {
      time.close();
      webhooks.close();
    },
  };
}

const style = readFileSync(new URL('./hosted/pages.css', import.meta.url), 'utf8');

/** The back button must show the current state. */
const preventCaching: MiddlewareHandler = async function preventCaching(c, next) {
  await next();
  c.header('Cache-Control', 'no-store');
};

/** The hosted pages: checkout, portal and invoice. */
function createPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/stripe/pages.css', (c) =>
    c.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }),
  );
  for (const path of ['/checkout/*', '/portal/*', '/invoice/*']) app.use(path, preventCaching);
  app.route('/', checkoutPages(world, atomically));
  app.route('/', portalPages(world, atomically));
  app.route('/', invoicePages(world, atomically));
  app.onError((error, c) => {
    if (!(error instanceof StripeError)) throw error;
    const title = error.status === 404 ? 'Page not found' : 'That did not work';
    return c.html(
      closedPage({
        title,
        text: error.message,
        back: null,
      }),
      error.status as 404,
    );
  });
  return app;
}

type Parts = {
  world: World;
  webhooks: Webhooks;
  time: ReturnType<typeof createTime>;
  atomically: Atomically;
};

const phone = v.optional(v.string());
const text = v.exactOptional(v.nullable(v.string()));
const AdvanceClock = v.object({
  advanceSeconds: integer(0, 400 * 86_400),
  phone,
});
const WebhookMode = v.object({
  mode: v.picklist(['deliver', 'hold']),
  phone,
});
const Redelivery = v.object({
  order: v.optional(v.picklist(['original', 'reversed']), 'original'),
  times: v.optional(integer(1, 20), 1),
  phone,
});
const AccountSettings = v.strictObject({
  retries: v.exactOptional(v.picklist(['two-weeks', 'five-days'])),
  afterRetries: v.exactOptional(v.picklist(['cancel', 'unpaid', 'past_due'])),
  phone,
});
const Dashboard = v.strictObject({
  chargesEnabled: v.exactOptional(v.boolean()),
  icon: text,
  statementDescriptor: text,
  taxBehavior: text,
  taxOrigin: text,
});

/** The control calls that the real Stripe lacks: stored objects, clock, webhook mode, payments, account settings. */
function createControl({ world, webhooks, time, atomically }: Parts): Hono {
  const app = new Hono();
  app.get('/stripe/customers/:phone', (c) =>
    c.json(objectsOf(world, findCustomer(world, c.req.param('phone')))),
  );

  /** Oldest first. The real list of events cannot be limited to a customer. */
  app.get('/stripe/events', (c) => {
    const events = world.events.all().filter((event) => queueOf(event) === c.req.query('customer'));
    return c.json(events.toReversed().map((event) => shown(world, event)));
  });

  app.get('/stripe/clock', (c) => c.json({ now: world.clock.now() }));
  app.post('/stripe/clock', async (c) => {
    const control = await readControl(c, AdvanceClock);
    return c.json({
      now: await time.advance(control.advanceSeconds, scopeOf(world, control.phone)),
    });
  });

  app.put('/stripe/webhooks', async (c) => {
    const control = await readControl(c, WebhookMode);
    await webhooks.setMode(control.mode, scopeOf(world, control.phone));
    return c.json({ mode: control.mode });
  });
  app.post('/stripe/webhooks/redeliver', async (c) => {
    const control = await readControl(c, Redelivery);
    // Somebody who never bought anything has no events.
    const customer =
      control.phone === undefined ? '' : (customerWith(world, control.phone)?.id ?? 'none');
    const newest = world.events
      .all()
      .filter((event) => customer === '' || queueOf(event) === customer);
    const events = control.order === 'reversed' ? newest : newest.toReversed();
    let sent = 0;
    for (let round = 0; round < control.times; round++)
      sent += await webhooks.redeliver(events, world.webhookEndpoints.all());
    return c.json({ sent });
  });
  app.route('/', createPaymentControl(world, atomically));
  app.route('/', createAccountControl(world));
  return app;
}

/** Failing cards, disputes, refunds and authentications. */
function createPaymentControl(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.post('/stripe/customers/:phone/card', async (c) => {
    const { declines } = await readControl(c, v.object({ declines: v.boolean() }));
    const { id } = findCustomer(world, c.req.param('phone'));
    const methods = world.paymentMethods.all().filter(({ customer }) => customer === id);
    if (methods.length === 0) throw controlError(404, 'This customer has no card');
    for (const method of methods)
      world.paymentMethods.change(method.id, ({ _ }) => void (_.declines = declines), null);
    return c.json({ declines });
  });

  // The last payment, or the one of `charge`.
  app.post('/stripe/customers/:phone/dispute', async (c) => {
    const { charge: wanted } = await readControl(c, v.object({ charge: phone }));
    const { id } = findCustomer(world, c.req.param('phone'));
    const charge = world.charges
      .all()
      .filter(
        ({ customer, status, disputed }) => customer === id && status === 'succeeded' && !disputed,
      )
      .find((each) => wanted === undefined || wanted === each.id);
    if (!charge) throw controlError(404, 'This customer has no payment that could be disputed');
    const dispute = atomically(id, () => openDispute(world, charge.id));
    return c.json(shown(world, dispute));
  });

  app.put('/stripe/customers/:phone/refunds', async (c) => {
    const { outcome } = await readControl(c, v.object({ outcome: v.picklist(refundOutcomes) }));
    setRefundOutcome(world, findCustomer(world, c.req.param('phone')).id, outcome);
    return c.json({ outcome });
  });

  app.post('/stripe/customers/:phone/authenticate', async (c) => {
    const control = await readControl(c, v.object({ succeeds: v.boolean() }));
    const { id } = findCustomer(world, c.req.param('phone'));
    const waits = (invoice: Invoice) =>
      invoice.customer === id && awaitsAuthentication(world, invoice);
    const waiting = world.invoices.all().find(waits);
    if (!waiting)
      throw controlError(404, 'No open invoice of this customer waits for authentication');
    const invoice = atomically(id, () => authenticateInvoice(world, waiting.id, control));
    return c.json(shown(world, invoice));
  });
  return app;
}

/** How the account collects failed renewals, and the settings of its Dashboard. */
function createAccountControl(world: World): Hono {
  const app = new Hono();
  app.put('/stripe/settings', async (c) => {
    const { phone: of, ...changes } = await readControl(c, AccountSettings);
    return c.json(world.setCollection(changes, scopeOf(world, of)));
  });
  app.get('/stripe/dashboard', (c) => c.json(dashboardSettings(world)));
  app.put('/stripe/dashboard', async (c) =>
    c.json(changeDashboardSettings(world, await readControl(c, Dashboard))),
  );
  return app;
}

const shown = (world: World, object: unknown): object => expand(world, object, []) as object;

function objectsOf(world: World, customer: Customer): object {
  const { id } = customer;
  const own = <T extends { customer: string }>(docs: T[]) =>
    docs.filter((doc) => doc.customer === id);
  return shown(world, {
    customer: customer.deleted
      ? {
          id,
          object: 'customer',
          deleted: true,
        }
      : customer,
    subscriptions: own(world.subscriptions.all()),
    schedules: own(world.schedules.all()),
    invoices: own(world.invoices.all()),
  });
}

/** The customer with this number, else the last deleted one with it. */
function customerWith(world: World, number: string): Customer | undefined {
  const digits = number.replaceAll(/\D/g, '');
  const found = world.customers
    .all()
    .filter(({ _ }) => _.phone !== null && _.phone.replaceAll(/\D/g, '') === digits);
  return found.find(({ deleted }) => !deleted) ?? found[0];
}

/** Throws a 404 if there is none. */
function findCustomer(world: World, number: string): Customer {
  const customer = customerWith(world, number);
  if (!customer) throw controlError(404, 'Stripe knows no customer with this number');
  return customer;
}

/** The customer with this number, '' for everybody if none is named. */
function scopeOf(world: World, number: string | undefined): string {
  return number === undefined ? '' : findCustomer(world, number).id;
}
