import { type Context, Hono } from 'hono';
import { actionRequired, refuseIncomplete, markSetUp } from '../payments/attempt-payment.ts';
import { StripeError, invalid } from '../api/errors.ts';
import { authenticationOf, authenticationPage, authenticationProblem, chosenCard } from './layout.ts';
import { portalPage, type Notice, readPortal } from './portal-page.ts';
import { type Atomically, type World, liveCustomer } from '../world.ts';
import type { PortalFlow, PortalSession, PortalConfiguration, Subscription } from '../objects.ts';
import { newPaymentMethod, attach, type TestCard } from '../payments/payment-methods.ts';
import { hasFuturePhase } from './portal-sessions.ts';
import { release, scheduleSubscription, phaseOf } from '../subscriptions/schedules.ts';
import { isLive, periodEnd, endSubscription, applyCancellation } from '../subscriptions/subscriptions.ts';
import { changeItems } from '../subscriptions/update-subscription.ts';
import { endTrial, periodFrom } from '../subscriptions/periods.ts';

type Form = Record<string, unknown>;
/** Performs a button's action. Returns the notice to show, and the flow that it completes. */
type Action = (world: World, session: PortalSession, form: Form) => { notice: Notice; flow?: PortalFlow['type'] };

const actions: Record<string, Action> = {
  switch(world, session, form) {
    const configuration = world.portalConfigurations.get(session.configuration);
    const isAuthenticated = form['authentication'] === 'complete';
    const price = textOf(form, 'price');
    const when = switchPlan(world, subscriptionOf(world, session), price, configuration, { isAuthenticated });
    return { notice: when === 'now' ? 'switched' : 'scheduled', flow: 'subscription_update' };
  },
  cancel(world, session) {
    cancelInPortal(world, subscriptionOf(world, session), world.portalConfigurations.get(session.configuration));
    return { notice: 'canceled' };
  },
  keep(world, session) {
    keepSubscription(world, subscriptionOf(world, session));
    return { notice: 'kept' };
  },
  release(world, session) {
    cancelScheduledChange(world, subscriptionOf(world, session));
    return { notice: 'released' };
  },
  card(world, { customer }, form) {
    const card = chosenCard(form);
    if (authenticationOf(form, card) === 'missing') refuseIncomplete({ kind: 'action' });
    updateCard(world, customer, card);
    return { notice: 'card', flow: 'payment_method_update' };
  },
};

/** The portal of one customer; each button is a form, so that it works without scripts. */
export function portalPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/portal/:id', (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    return c.html(portalPage(world, readPortal(world, session), { notice: c.req.query('notice') as Notice }));
  });
  // A reload after an error leads back to the portal.
  app.get('/portal/:id/:action', (c) => c.redirect(`/portal/${c.req.param('id')}`, 303));
  app.post('/portal/:id/return', (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    return c.redirect(session.return_url ?? world.settings.siteUrl, 303);
  });
  app.post('/portal/:id/:action', async (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    const action = actions[c.req.param('action')];
    if (!action) return c.notFound();
    const form = await c.req.parseBody();
    if (form['authentication'] === 'fail') {
      return c.html(portalPage(world, readPortal(world, session), { problem: authenticationProblem }), 402);
    }
    const outcome = run(session.customer, () => action(world, session, form));
    if (!(outcome instanceof StripeError)) return respond(c, session, outcome);
    if (outcome.details.code === actionRequired) {
      return c.html(authenticationPage(world, { action: c.req.path, fields: textsOf(form) }));
    }
    return c.html(portalPage(world, readPortal(world, session), { problem: outcome.message }), outcome.status as 402);
  });
  return app;

  function run<T>(customer: string, work: () => T): T | StripeError {
    try {
      return atomically(customer, work);
    } catch (error) {
      if (error instanceof StripeError) return error;
      throw error;
    }
  }
}

function respond(c: Context, { flow, id }: PortalSession, { notice, flow: completed }: ReturnType<Action>): Response {
  const address = flow && flow.type === completed ? flow.after_completion.redirect?.return_url : undefined;
  return c.redirect(address ?? `/portal/${id}?notice=${notice}`, 303);
}

function subscriptionOf(world: World, session: PortalSession): string {
  const { subscription } = readPortal(world, session);
  if (!subscription)
    throw new StripeError(404, { type: 'invalid_request_error', message: 'There is no subscription to change.' });
  return subscription.id;
}

function textOf(form: Form, name: string): string {
  const value = form[name];
  return typeof value === 'string' ? value : '';
}

/** The texts of a form, which are sent again after the authentication. */
function textsOf(form: Form): Record<string, string> {
  const entries = Object.entries(form).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  return Object.fromEntries(entries) as Record<string, string>;
}

/** A dearer plan is charged and applies at once, or nothing changes; a cheaper one may start with the next period. */
function switchPlan(
  world: World,
  id: string,
  priceId: string,
  { features }: PortalConfiguration,
  { isAuthenticated = false } = {},
): 'now' | 'later' {
  const { subscription_update: update } = features;
  const subscription = world.subscriptions.get(id);
  const [item] = subscription.items.data;
  const isOffered = update.enabled && update.products.some(({ prices }) => prices.includes(priceId));
  if (!item || !isOffered) throw invalid('This plan is not offered.', 'price');
  if (hasFuturePhase(world, subscription)) throw invalid('Cancel the scheduled change first.', 'price');
  if (priceId === item.price.id) {
    throw invalid('Cannot update the subscription because there are no changes to confirm.', 'price');
  }
  undoEnd(world, subscription);
  const isCheaper = world.prices.get(priceId).unit_amount < item.price.unit_amount;
  const waits = update.schedule_at_period_end.conditions.some(({ type }) => type === 'decreasing_item_amount');
  if (isCheaper && waits) return switchLater(world, id, priceId);
  const restart = update.billing_cycle_anchor === 'now';
  const manner = {
    proration: update.proration_behavior,
    paymentBehavior: 'error_if_incomplete',
    restart,
    isAuthenticated,
  };
  changeItems(world, id, [{ id: item.id, price: priceId }], manner);
  if (subscription.status === 'trialing' && update.trial_update_behavior === 'end_trial')
    endTrial(world, id, world.now(), { isRequested: true });
  return 'now';
}

/** A change of plan undoes a scheduled cancellation and releases a schedule without future phases. */
function undoEnd(world: World, { id, schedule, cancel_at: at }: Subscription): void {
  if (schedule) release(world, world.schedules.get(schedule));
  else if (at !== null) applyCancellation(world, id, { cancel_at: '' });
}

function switchLater(world: World, id: string, price: string): 'later' {
  const subscription = world.subscriptions.get(id);
  const [item] = subscription.items.data;
  if (!item) return 'later';
  const { id: schedule } = scheduleSubscription(world, subscription);
  const present = phaseOf(subscription);
  const { start, end } = periodFrom(present.end_date, { ...item, price: world.prices.get(price) });
  const items = present.items.map((item) => ({ ...item, price, plan: price }));
  const next = { ...present, start_date: start, end_date: end, items, proration_behavior: 'none', trial_end: null };
  world.schedules.change(schedule, (schedule) => void (schedule.phases = [present, next]));
  return 'later';
}

/** Ends a subscription as the configuration says: at its period's end, or now. */
function cancelInPortal(world: World, id: string, { features }: PortalConfiguration): void {
  const { enabled, mode } = features.subscription_cancel;
  if (!enabled) throw invalid('Canceling is not offered.');
  const subscription = world.subscriptions.get(id);
  if (subscription.schedule) release(world, world.schedules.get(subscription.schedule));
  if (mode === 'immediately') return void endSubscription(world, id);
  const isFlexible = subscription.billing_mode.type === 'flexible';
  applyCancellation(world, id, isFlexible ? { cancel_at: periodEnd(subscription) } : { cancel_at_period_end: true });
}

function keepSubscription(world: World, id: string): void {
  applyCancellation(world, id, { cancel_at: '' });
}

/** Undoes a scheduled cancellation. */
function cancelScheduledChange(world: World, id: string): void {
  const { schedule } = world.subscriptions.get(id);
  if (schedule) release(world, world.schedules.get(schedule));
}

/** Makes a new card the default. Open invoices are charged to it at their next retry. */
function updateCard(world: World, customerId: string, card: TestCard): void {
  const { id } = attach(world, newPaymentMethod(world, card).id, liveCustomer(world, customerId).id);
  markSetUp(world, id);
  world.customers.change(customerId, (customer) => void (customer.invoice_settings.default_payment_method = id));
  for (const subscription of world.subscriptions.all()) {
    if (subscription.customer !== customerId || !isLive(subscription)) continue;
    world.subscriptions.change(subscription.id, (subscription) => void (subscription.default_payment_method = id));
  }
}
