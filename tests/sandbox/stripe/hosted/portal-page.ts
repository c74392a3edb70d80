import { html } from 'hono/html';
import { type Html, layout, problem, formatMoney, cardChoice, wordsIn } from './layout.ts';
import type { PortalSession, Features, PaymentMethod, Customer, Price, Invoice, Subscription } from '../objects.ts';
import { type World, liveCustomer } from '../world.ts';
import { longDate } from '../clock.ts';
import { productName } from '../invoices/lines.ts';
import { defaultMethod } from '../invoices/collect-invoice.ts';
import { hasFuturePhase } from './portal-sessions.ts';
import { isLive, periodEnd } from '../subscriptions/subscriptions.ts';

const notices = {
  switched: 'Your plan has changed.',
  scheduled: 'Your plan will change at the end of this period.',
  canceled: 'Your subscription will end. You can change your mind until then.',
  kept: 'Your subscription goes on.',
  released: 'The scheduled change is canceled. Your plan stays as it is.',
  card: 'Your payment method is updated.',
};
export type Notice = keyof typeof notices | undefined;

/** The portal's page: the plan and its actions, the card, the invoices. */
export function portalPage(
  world: World,
  portal: Portal,
  { notice, problem: message }: { notice?: Notice; problem?: string },
): Html {
  const { locale } = portal.session;
  const title = wordsIn(locale).subscription;
  const words = notice && notices[notice];
  const content = html`<div class="stack">
      <h1>${title}</h1>
      ${problem(message)} ${words ? html`<p class="notice good" role="status">${words}</p>` : ''}
    </div>
    <div class="columns" lang="en">
      <div class="rows">${sectionsOf(portal)}</div>
      <div class="rows">
        ${invoiceSection(portal)}
        <form method="post" action="/portal/${portal.session.id}/return">
          <button>Return to ${world.settings.businessName}</button>
        </form>
      </div>
    </div>`;
  return layout(world, { title, locale }, content);
}

/** The section of the session's flow comes first. */
function sectionsOf(portal: Portal): (Html | string)[] {
  const plan = portal.subscription ? planSection(portal) : noPlan;
  const card = portal.features.payment_method_update.enabled ? cardSection(portal) : '';
  return portal.session.flow?.type === 'payment_method_update' ? [card, plan] : [plan, card];
}

const states: Record<string, string> = {
  active: 'Active',
  trialing: 'Free trial',
  past_due: 'Payment past due',
  unpaid: 'Unpaid',
  paused: 'Paused',
};

const noPlan = html`<section class="card stack">
  <h2>No active plan</h2>
  <p class="soft">There is no subscription to manage at the moment.</p>
</section>`;

function planSection(portal: Portal): Html {
  const { subscription, plan, offers, session } = portal;
  const next = nextDate(portal);
  const isOverdue = ['past_due', 'unpaid'].includes(subscription?.status ?? '');
  return html`<section class="card stack" aria-labelledby="plan">
    <h2 id="plan">Current plan</h2>
    <p class="price">${plan?.name} <small>${plan ? cost(plan) : ''}</small></p>
    ${isOverdue ? html`<p class="notice bad">Your last payment did not go through. Update your payment method to go on.</p>` : ''}
    <dl>
      <div>
        <dt>Status</dt>
        <dd>${states[subscription?.status ?? ''] ?? subscription?.status}</dd>
      </div>
      ${
        next
          ? html`<div>
              <dt>${next.label}</dt>
              <dd>${longDate(next.at)}</dd>
            </div>`
          : ''
      }
    </dl>
    ${offers.map((offer) => offerRow(session, offer))} ${endings(portal)}
  </section>`;
}

function offerRow({ id }: PortalSession, offer: Plan): Html {
  return html`<div class="plan">
    <p><b>${offer.name}</b><br /><span class="soft">${cost(offer)}</span></p>
    <form method="post" action="/portal/${id}/switch">
      <input type="hidden" name="price" value="${offer.price.id}" />
      <button>Switch to ${offer.name}</button>
    </form>
  </div>`;
}

function endings({ session, subscription, planned, features }: Portal): Html {
  const action = (name: string, label: string, look = '') =>
    html`<form method="post" action="/portal/${session.id}/${name}"><button class="${look}">${label}</button></form>`;
  const canCancel = features.subscription_cancel.enabled && subscription?.cancel_at === null;
  return html`${planned ? action('release', 'Cancel scheduled change') : ''}
  ${subscription?.cancel_at !== null && !planned ? action('keep', "Don't cancel subscription", 'primary') : ''}
  ${canCancel ? action('cancel', 'Cancel subscription', 'quiet') : ''}`;
}

function cardSection({ session, card }: Portal): Html {
  const cardName = card ? nameOf(card) : 'No card on file';
  return html`<section class="card stack" aria-labelledby="card">
    <h2 id="card">Payment method</h2>
    <p>${cardName}</p>
    <form method="post" action="/portal/${session.id}/card">
      <details ${session.flow?.type === 'payment_method_update' ? 'open' : ''}>
        <summary>Choose the new card</summary>
        ${cardChoice()}
      </details>
      <button>Update payment method</button>
    </form>
  </section>`;
}

function nameOf({ card }: PaymentMethod): string {
  const brand = card.brand === 'visa' ? 'Visa' : 'Mastercard';
  return `${brand} •••• ${card.last4}, expires ${card.exp_month}/${card.exp_year}`;
}

function invoiceSection({ features, invoices }: Portal): Html | string {
  if (!features.invoice_history.enabled || invoices.length === 0) return '';
  return html`<section class="card" aria-labelledby="invoices">
    <h2 id="invoices">Invoices</h2>
    <table>
      <tbody>
        ${invoices.slice(0, 12).map(
          ({ created, total, currency, status, hosted_invoice_url: url }) =>
            html`<tr>
              <td><a href="${url}">${longDate(created)}</a></td>
              <td>${status}</td>
              <td>${formatMoney(total, currency)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

function cost({ price }: Plan): string {
  return `${formatMoney(price.unit_amount, price.currency)} / ${price.recurring?.interval ?? 'week'}`;
}

export type Plan = { price: Price; name: string };
export type Portal = {
  session: PortalSession;
  customer: Customer;
  features: Features;
  subscription: Subscription | undefined;
  plan: Plan | undefined;
  /** The plan of the schedule's next phase. */
  planned: (Plan & { at: number }) | undefined;
  offers: Plan[];
  card: PaymentMethod | undefined;
  invoices: Invoice[];
};

/** The data that the portal shows to one customer. */
export function readPortal(world: World, session: PortalSession): Portal {
  const customer = liveCustomer(world, session.customer);
  const { features } = world.portalConfigurations.get(session.configuration);
  const subscription = subscriptionOf(world, session);
  const price = subscription?.items.data[0]?.price;
  const planned = subscription && plannedOf(world, subscription);
  return {
    session,
    customer,
    features,
    subscription,
    plan: price && planOf(world, price),
    planned,
    offers: subscription && price && !planned ? offersOf(world, features, subscription, price) : [],
    card: cardOf(world, customer, subscription),
    invoices: world.invoices.all().filter((invoice) => invoice.customer === customer.id && invoice.status !== 'draft'),
  };
}

function planOf(world: World, price: Price): Plan {
  return { price, name: productName(world, price) };
}

/** The subscription that the flow names, else the newest one that can be managed. */
function subscriptionOf(world: World, { flow, customer }: PortalSession): Subscription | undefined {
  const managed = world.subscriptions
    .all()
    .filter(
      (subscription) =>
        subscription.customer === customer && isLive(subscription) && subscription.status !== 'incomplete',
    );
  return managed.find(({ id }) => id === flow?.subscription_update?.subscription) ?? managed[0];
}

function plannedOf(world: World, subscription: Subscription): Portal['planned'] {
  if (!hasFuturePhase(world, subscription) || !subscription.schedule) return undefined;
  const { phases, current_phase: present } = world.schedules.get(subscription.schedule);
  const next = phases.find(({ start_date: start }) => start >= (present?.end_date ?? Infinity));
  const price = next?.items[0]?.price;
  return next && price ? { ...planOf(world, world.prices.get(price)), at: next.start_date } : undefined;
}

/** The newest active price of every other product. */
function offersOf(
  world: World,
  { subscription_update: update }: Features,
  { status, items }: Subscription,
  current: Price,
): Plan[] {
  if (!update.enabled || !['active', 'trialing'].includes(status) || items.data.length > 1) return [];
  return update.products
    .filter(({ product }) => product !== current.product)
    .map(({ prices }) => prices.map((id) => world.prices.get(id)).filter(({ active }) => active))
    .flatMap((prices) => prices.toSorted((one, other) => other.created - one.created).slice(0, 1))
    .toSorted((one, other) => one.unit_amount - other.unit_amount)
    .map((price) => planOf(world, price));
}

function cardOf(world: World, customer: Customer, subscription: Subscription | undefined): PaymentMethod | undefined {
  return defaultMethod(world, {
    customer: customer.id,
    default_payment_method: subscription?.default_payment_method ?? null,
  });
}

/** The next date of the subscription, with its label. */
function nextDate({ subscription, planned }: Portal): { label: string; at: number } | undefined {
  if (!subscription) return undefined;
  const { cancel_at: end, status, trial_end: trialEnd } = subscription;
  if (end !== null) return { label: 'Ends on', at: end };
  if (planned) return { label: `Changes to ${planned.name} on`, at: planned.at };
  if (status === 'trialing' && trialEnd !== null) return { label: 'Trial ends on', at: trialEnd };
  return { label: status === 'active' ? 'Renews on' : 'Period ends on', at: periodEnd(subscription) };
}
