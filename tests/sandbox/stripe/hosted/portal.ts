import { Hono } from 'hono';
import { html } from 'hono/html';
import { StripeError, invalid } from '../api/errors.ts';
import { formatMoney } from '../currencies.ts';
import { type Atomically, type World, liveCustomer, businessName } from '../world.ts';
import type { Features, PortalFlow, PortalSession, Price, Subscription } from '../objects.ts';
import { setUpCard } from '../payments/intents.ts';
import {
  release,
  scheduleSubscription,
  phaseOf,
  isEnded,
  periodEnd,
  applyCancellation,
} from '../subscriptions/subscriptions.ts';
import { changeItems } from '../subscriptions/update-subscription.ts';
import { endTrial, periodFrom } from '../subscriptions/periods.ts';
import { productName } from '../invoices/lines.ts';
import { defaultMethod } from '../invoices/collect-invoice.ts';
import { type Form, paymentBy, submit, type Html, layout, problem, cardChoice } from './layout.ts';
import { hasFuturePhase } from './portal-sessions.ts';

/** Performs a button's action. Returns the flow that it completes. */
type Action = (world: World, session: PortalSession, form: Form) => PortalFlow['type'] | void;

const actions: Record<string, Action> = {
  switch(world, session, form) {
    switchPlan(world, session, form);
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
    useCard(world, customer, setUpCard(world, liveCustomer(world, customer).id, paymentBy(form)));
    return 'payment_method_update';
  },
};

/** The portal of one customer; each button is a form, so that it works without scripts. */
export function portalPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/portal/:id', (c) =>
    c.html(portalPage(world, world.portalSessions.get(c.req.param('id')))),
  );
  // A reload after an error leads back to the portal.
  app.get('/portal/:id/:action', (c) => c.redirect(`/portal/${c.req.param('id')}`, 303));
  app.post('/portal/:id/return', (c) => {
    return c.redirect(
      world.portalSessions.get(c.req.param('id')).return_url ?? world.settings.siteUrl,
      303,
    );
  });
  app.post('/portal/:id/:action', (c) => {
    const session = world.portalSessions.get(c.req.param('id'));
    const action = actions[c.req.param('action')];
    if (!action) return c.notFound();
    return submit(c, {
      work(form) {
        const completed = atomically(session.customer, () => action(world, session, form));
        const { flow, id } = session;
        const address =
          flow && flow.type === completed ? flow.after_completion.redirect?.return_url : undefined;
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
  throw new StripeError(404, {
    type: 'invalid_request_error',
    message: 'There is no subscription to change.',
  });
}

/** A dearer plan is charged and applies at once, or nothing changes; a cheaper one may start with the next period. */
function switchPlan(world: World, session: PortalSession, form: Form): void {
  const { subscription_update: update } = world.portalConfigurations.get(
    session.configuration,
  ).features;
  const subscription = subscriptionOf(world, session);
  const { id, status } = subscription;
  const { price: wanted = '' } = form;
  const [item] = subscription.items.data;
  const isOffered = update.enabled && update.products.some(({ prices }) => prices.includes(wanted));
  if (!item || !isOffered) throw invalid('This plan is not offered.', 'price');
  if (hasFuturePhase(world, subscription))
    throw invalid('Cancel the scheduled change first.', 'price');
  if (wanted === item.price.id)
    throw invalid(
      'Cannot update the subscription because there are no changes to confirm.',
      'price',
    );
  releaseSchedule(world, subscription);
  if (subscription.cancel_at !== null) applyCancellation(world, id, { cancel_at: null });
  const isCheaper = world.prices.get(wanted).unit_amount < item.price.unit_amount;
  const waits = update.schedule_at_period_end.conditions.some(
    ({ type }) => type === 'decreasing_item_amount',
  );
  if (isCheaper && waits)
    return switchLater(world, world.subscriptions.get(id), world.prices.get(wanted));
  changeItems(world, id, [{ id: item.id, price: wanted }], {
    proration: update.proration_behavior,
    mustPay: true,
    restart: update.billing_cycle_anchor === 'now',
    isAuthenticated: paymentBy(form).isAuthenticated,
  });
  if (status === 'trialing' && update.trial_update_behavior === 'end_trial')
    endTrial(world, id, world.now(), { isRequested: true });
}

function switchLater(world: World, subscription: Subscription, price: Price): void {
  const { id } = scheduleSubscription(world, subscription);
  const present = phaseOf(subscription);
  const { start, end } = periodFrom(present.end_date, price);
  const items = present.items.map((item) => ({
    ...item,
    price: price.id,
    plan: price.id,
  }));
  const next = {
    ...present,
    start_date: start,
    end_date: end,
    items,
    proration_behavior: 'none',
    trial_end: null,
  };
  world.schedules.change(id, { phases: [present, next] });
}

/** Undoes a scheduled change. */
function releaseSchedule(world: World, { schedule }: Subscription): void {
  if (schedule) release(world, world.schedules.get(schedule));
}

/** Makes a card the default. Open invoices are charged to it at their next retry. */
function useCard(world: World, customerId: string, card: string): void {
  world.customers.change(
    customerId,
    (customer) => void (customer.invoice_settings.default_payment_method = card),
  );
  for (const subscription of world.subscriptions.all()) {
    if (subscription.customer !== customerId || isEnded(subscription)) continue;
    world.subscriptions.change(subscription.id, { default_payment_method: card });
  }
}

/** The portal's page: the plan and its actions, and the card. The section of the session's flow comes first. */
function portalPage(world: World, session: PortalSession, message?: string): Html {
  const { features } = world.portalConfigurations.get(session.configuration);
  const subscription = managedSubscription(world, session);
  const plan = subscription ? planSection(world, session, subscription, features) : noPlan;
  const card = features.payment_method_update.enabled
    ? cardSection(world, session, subscription)
    : '';
  const title = 'Your subscription';
  const content = html`<div class="stack">
      <h1>${title}</h1>
      ${problem(message)}
    </div>
    <div class="columns">
      ${session.flow?.type === 'payment_method_update' ? [card, plan] : [plan, card]}
      <form
        method="post"
        action="/portal/${session.id}/return"
      >
        <button>Return to ${businessName}</button>
      </form>
    </div>`;
  return layout({ title, locale: session.locale }, content);
}

/** The subscription that the flow names, else the newest one that can be managed. */
function managedSubscription(
  world: World,
  { flow, customer }: PortalSession,
): Subscription | undefined {
  const managed = world.subscriptions
    .all()
    .filter((each) => each.customer === customer && !isEnded(each) && each.status !== 'incomplete');
  return managed.find(({ id }) => id === flow?.subscription_update?.subscription) ?? managed[0];
}

const noPlan = html`<section class="card stack">
  <h2>No active plan</h2>
  <p class="soft">There is no subscription to manage at the moment.</p>
</section>`;

function planSection(
  world: World,
  session: PortalSession,
  subscription: Subscription,
  features: Features,
): Html {
  const { cancel_at: end, items, status } = subscription;
  const isPlanned = hasFuturePhase(world, subscription);
  const action = (name: string, label: string, look = '') =>
    html`<form
      method="post"
      action="/portal/${session.id}/${name}"
    >
      <button class="${look}">${label}</button>
    </form>`;
  const offers = isPlanned ? [] : offersOf(world, features, subscription);
  return html`<section class="card stack">
    <h2>Current plan</h2>
    ${items.data.map(({ price }) => html`<p class="price">${productName(world, price)} <small>${cost(price)}</small></p>`)}
    <p class="soft">${status}</p>
    ${offers.map(
      (price) =>
        html`<form
          method="post"
          action="/portal/${session.id}/switch"
          class="plan"
        >
          <p>${productName(world, price)} <span class="soft">${cost(price)}</span></p>
          <input
            type="hidden"
            name="price"
            value="${price.id}"
          />
          <button>Switch to ${productName(world, price)}</button>
        </form>`,
    )}
    ${isPlanned ? action('release', 'Cancel scheduled change') : ''}
    ${end === null ? '' : action('keep', "Don't cancel subscription", 'primary')}
    ${features.subscription_cancel.enabled && end === null ? action('cancel', 'Cancel subscription', 'quiet') : ''}
  </section>`;
}

function cost({ unit_amount: amount, currency, recurring }: Price): string {
  return `${formatMoney(amount, currency)} / ${recurring.interval}`;
}

function cardSection(
  world: World,
  session: PortalSession,
  subscription: Subscription | undefined,
): Html {
  const { id: customer } = liveCustomer(world, session.customer);
  const own = subscription?.default_payment_method ?? null;
  const method = defaultMethod(world, {
    customer,
    default_payment_method: own,
  });
  return html`<section class="card stack">
    <h2>Payment method</h2>
    <p>${method ? `${method.card.brand} •••• ${method.card.last4}` : 'No card on file'}</p>
    <form
      method="post"
      action="/portal/${session.id}/card"
    >
      <details ${session.flow?.type === 'payment_method_update' ? 'open' : ''}>
        <summary>Choose the new card</summary>
        ${cardChoice()}
      </details>
      <button>Update payment method</button>
    </form>
  </section>`;
}

/** The newest active price of every other product. */
function offersOf(
  world: World,
  { subscription_update: update }: Features,
  { status, items }: Subscription,
): Price[] {
  const [item] = items.data;
  if (!update.enabled || !['active', 'trialing'].includes(status) || items.data.length > 1)
    return [];
  return update.products
    .filter(({ product }) => product !== item?.price.product)
    .map(({ prices }) => prices.map((id) => world.prices.get(id)).filter(({ active }) => active))
    .flatMap((prices) => prices.toSorted((one, other) => other.created - one.created).slice(0, 1))
    .toSorted((one, other) => one.unit_amount - other.unit_amount);
}
