import { html } from 'hono/html';
import { type Html, layout, problem, formatMoney, cardChoice } from './layout.ts';
import type { PortalSession, Features, Price, Subscription } from '../objects.ts';
import { businessName, type World, liveCustomer } from '../world.ts';
import { productName } from '../invoices/lines.ts';
import { defaultMethod } from '../invoices/collect-invoice.ts';
import { hasFuturePhase } from './portal-sessions.ts';
import { isEnded } from '../subscriptions/subscriptions.ts';

/** The portal's page: the plan and its actions, and the card. The section of the session's flow comes first. */
export function portalPage(world: World, session: PortalSession, message?: string): Html {
  const { features } = world.portalConfigurations.get(session.configuration);
  const subscription = managedSubscription(world, session);
  const plan = subscription ? planSection(world, session, subscription, features) : noPlan;
  const card = features.payment_method_update.enabled ? cardSection(world, session, subscription) : '';
  const title = 'Your subscription';
  const content = html`<div class="stack">
      <h1>${title}</h1>
      ${problem(message)}
    </div>
    <div class="columns">
      ${session.flow?.type === 'payment_method_update' ? [card, plan] : [plan, card]}
      <form method="post" action="/portal/${session.id}/return">
        <button>Return to ${businessName}</button>
      </form>
    </div>`;
  return layout({ title, locale: session.locale }, content);
}

/** The subscription that the flow names, else the newest one that can be managed. */
export function managedSubscription(world: World, { flow, customer }: PortalSession): Subscription | undefined {
  const managed = world.subscriptions
    .all()
    .filter((each) => each.customer === customer && !isEnded(each) && each.status !== 'incomplete');
  return managed.find(({ id }) => id === flow?.subscription_update?.subscription) ?? managed[0];
}

const noPlan = html`<section class="card stack">
  <h2>No active plan</h2>
  <p class="soft">There is no subscription to manage at the moment.</p>
</section>`;

function planSection(world: World, session: PortalSession, subscription: Subscription, features: Features): Html {
  const { cancel_at: end, items, status } = subscription;
  const isPlanned = hasFuturePhase(world, subscription);
  const action = (name: string, label: string, look = '') =>
    html`<form method="post" action="/portal/${session.id}/${name}"><button class="${look}">${label}</button></form>`;
  const offers = isPlanned ? [] : offersOf(world, features, subscription);
  return html`<section class="card stack">
    <h2>Current plan</h2>
    ${items.data.map(({ price }) => html`<p class="price">${productName(world, price)} <small>${cost(price)}</small></p>`)}
    <p class="soft">${status}</p>
    ${offers.map(
      (price) =>
        html`<form method="post" action="/portal/${session.id}/switch" class="plan">
          <p>${productName(world, price)} <span class="soft">${cost(price)}</span></p>
          <input type="hidden" name="price" value="${price.id}" />
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

function cardSection(world: World, session: PortalSession, subscription: Subscription | undefined): Html {
  const { id } = liveCustomer(world, session.customer);
  const method = defaultMethod(world, {
    customer: id,
    default_payment_method: subscription?.default_payment_method ?? null,
  });
  return html`<section class="card stack">
    <h2>Payment method</h2>
    <p>${method ? `${method.card.brand} •••• ${method.card.last4}` : 'No card on file'}</p>
    <form method="post" action="/portal/${session.id}/card">
      <details ${session.flow?.type === 'payment_method_update' ? 'open' : ''}>
        <summary>Choose the new card</summary>
        ${cardChoice()}
      </details>
      <button>Update payment method</button>
    </form>
  </section>`;
}

/** The newest active price of every other product. */
function offersOf(world: World, { subscription_update: update }: Features, { status, items }: Subscription): Price[] {
  const [item] = items.data;
  if (!update.enabled || !['active', 'trialing'].includes(status) || items.data.length > 1) return [];
  return update.products
    .filter(({ product }) => product !== item?.price.product)
    .map(({ prices }) => prices.map((id) => world.prices.get(id)).filter(({ active }) => active))
    .flatMap((prices) => prices.toSorted((one, other) => other.created - one.created).slice(0, 1))
    .toSorted((one, other) => one.unit_amount - other.unit_amount);
}
