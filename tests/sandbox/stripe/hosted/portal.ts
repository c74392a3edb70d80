import { Hono } from 'hono';
import { StripeError, invalid } from '../api/errors.ts';
import { chosenCard, type Form, isAuthenticated, submit } from './layout.ts';
import { portalPage, managedSubscription } from './portal-page.ts';
import { type Atomically, type World, liveCustomer } from '../world.ts';
import type { Features, PortalFlow, PortalSession, Price, Subscription } from '../objects.ts';
import { setUpCard } from '../payments/intents.ts';
import { hasFuturePhase } from './portal-sessions.ts';
import { release, scheduleSubscription, phaseOf } from '../subscriptions/schedules.ts';
import { isEnded, periodEnd, applyCancellation } from '../subscriptions/subscriptions.ts';
import { changeItems } from '../subscriptions/update-subscription.ts';
import { endTrial, periodFrom } from '../subscriptions/periods.ts';

/** Performs a button's action. Returns the flow that it completes. */
type Action = (world: World, session: PortalSession, form: Form) => PortalFlow['type'] | void;

const actions: Record<string, Action> = {
  switch(world, session, form) {
    const { features } = world.portalConfigurations.get(session.configuration);
    switchPlan(world, subscriptionOf(world, session), features.subscription_update, form);
    return 'subscription_update';
  },
  cancel(world, session) {
    const { features } = world.portalConfigurations.get(session.configuration);
    if (!features.subscription_cancel.enabled) throw invalid('Canceling is not offered.');
    const subscription = subscriptionOf(world, session);
    releaseSchedule(world, subscription);
    applyCancellation(world, subscription.id, { cancel_at: periodEnd(subscription) });
  },
  keep(world, session) {
    applyCancellation(world, subscriptionOf(world, session).id, { cancel_at: null });
  },
  release(world, session) {
    releaseSchedule(world, subscriptionOf(world, session));
  },
  card(world, { customer }, form) {
    const payment = { card: chosenCard(form), isAuthenticated: isAuthenticated(form) };
    useCard(world, customer, setUpCard(world, liveCustomer(world, customer).id, payment));
    return 'payment_method_update';
  },
};

/** The portal of one customer; each button is a form, so that it works without scripts. */
export function portalPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/portal/:id', (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    return c.html(portalPage(world, session));
  });
  // A reload after an error leads back to the portal.
  app.get('/portal/:id/:action', (c) => c.redirect(`/portal/${c.req.param('id')}`, 303));
  app.post('/portal/:id/return', (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    return c.redirect(session.return_url ?? world.settings.siteUrl, 303);
  });
  app.post('/portal/:id/:action', (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    const action = actions[c.req.param('action')];
    if (!action) return c.notFound();
    return submit(c, {
      work(form) {
        const completed = atomically(session.customer, () => action(world, session, form));
        const { flow, id } = session;
        const address = flow && flow.type === completed ? flow.after_completion.redirect?.return_url : undefined;
        return address ?? `/portal/${id}`;
      },
      page: (message) => portalPage(world, session, message),
    });
  });
  return app;
}

function subscriptionOf(world: World, session: PortalSession): Subscription {
  const subscription = managedSubscription(world, session);
  if (subscription) return subscription;
  throw new StripeError(404, { type: 'invalid_request_error', message: 'There is no subscription to change.' });
}

/** A dearer plan is charged and applies at once, or nothing changes; a cheaper one may start with the next period. */
function switchPlan(
  world: World,
  subscription: Subscription,
  update: Features['subscription_update'],
  form: Form,
): void {
  const { id, status } = subscription;
  const { price: wanted = '' } = form;
  const [item] = subscription.items.data;
  const isOffered = update.enabled && update.products.some(({ prices }) => prices.includes(wanted));
  if (!item || !isOffered) throw invalid('This plan is not offered.', 'price');
  if (hasFuturePhase(world, subscription)) throw invalid('Cancel the scheduled change first.', 'price');
  if (wanted === item.price.id) {
    throw invalid('Cannot update the subscription because there are no changes to confirm.', 'price');
  }
  releaseSchedule(world, subscription);
  if (subscription.cancel_at !== null) applyCancellation(world, id, { cancel_at: null });
  const isCheaper = world.prices.get(wanted).unit_amount < item.price.unit_amount;
  const waits = update.schedule_at_period_end.conditions.some(({ type }) => type === 'decreasing_item_amount');
  if (isCheaper && waits) return switchLater(world, world.subscriptions.get(id), world.prices.get(wanted));
  changeItems(world, id, [{ id: item.id, price: wanted }], {
    proration: update.proration_behavior,
    mustPay: true,
    restart: update.billing_cycle_anchor === 'now',
    isAuthenticated: isAuthenticated(form),
  });
  if (status === 'trialing' && update.trial_update_behavior === 'end_trial')
    endTrial(world, id, world.now(), { isRequested: true });
}

function switchLater(world: World, subscription: Subscription, price: Price): void {
  const { id } = scheduleSubscription(world, subscription);
  const present = phaseOf(subscription);
  const { start, end } = periodFrom(present.end_date, price);
  const items = present.items.map((item) => ({ ...item, price: price.id, plan: price.id }));
  const next = { ...present, start_date: start, end_date: end, items, proration_behavior: 'none', trial_end: null };
  world.schedules.change(id, (schedule) => void (schedule.phases = [present, next]));
}

/** Undoes a scheduled change. */
function releaseSchedule(world: World, { schedule }: Subscription): void {
  if (schedule) release(world, world.schedules.get(schedule));
}

/** Makes a card the default. Open invoices are charged to it at their next retry. */
function useCard(world: World, customerId: string, card: string): void {
  world.customers.change(customerId, (customer) => void (customer.invoice_settings.default_payment_method = card));
  for (const subscription of world.subscriptions.all()) {
    if (subscription.customer !== customerId || isEnded(subscription)) continue;
    world.subscriptions.change(subscription.id, (subscription) => void (subscription.default_payment_method = card));
  }
}
