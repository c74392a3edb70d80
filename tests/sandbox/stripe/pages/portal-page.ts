import { html } from 'hono/html';
import { longDate } from '../interval.ts';
import { formatMoney } from '../money.ts';
import type { PortalSession } from '../objects/portal-sessions.ts';
import type { World } from '../world.ts';
import { cardChoice } from './card-choice.ts';
import { type Html, layout, problem } from './layout.ts';
import { nextDate, type Plan, type Portal } from './read-portal.ts';

const news = {
  switched: 'Your plan has changed.',
  scheduled: 'Your plan will change at the end of this period.',
  canceled: 'Your subscription will end. You can change your mind until then.',
  kept: 'Your subscription goes on.',
  released: 'The scheduled change is canceled. Your plan stays as it is.',
  card: 'Your payment method is updated.',
};
export type Told = keyof typeof news | undefined;

const states: Record<string, string> = {
  active: 'Active',
  trialing: 'Free trial',
  past_due: 'Payment past due',
  unpaid: 'Unpaid',
  paused: 'Paused',
};

/** The portal's one page: the plan, what can be done about it, the card, the invoices. */
export function portalPage(
  world: World,
  portal: Portal,
  { told, problem: message }: { told?: Told; problem?: string },
): Html {
  const words = told && news[told];
  const content = html`<div class="stack">
      <h1>Your subscription</h1>
      ${problem(message)} ${words ? html`<p class="notice good" role="status">${words}</p>` : ''}
    </div>
    <div class="columns">
      <div class="rows">${sectionsOf(portal)}</div>
      <div class="rows">
        ${invoiceSection(portal)}
        <form method="post" action="/portal/${portal.session.id}/return">
          <button>Return to ${world.settings.businessName}</button>
        </form>
      </div>
    </div>`;
  return layout(world, 'Billing', content);
}

/** The flow that one came for stands first. */
function sectionsOf(portal: Portal): (Html | string)[] {
  const plan = portal.subscription ? planSection(portal) : noPlan;
  const card = portal.features.payment_method_update.enabled ? cardSection(portal) : '';
  return portal.session.flow?.type === 'payment_method_update' ? [card, plan] : [plan, card];
}

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
  const held = card
    ? `${card.card.brand === 'visa' ? 'Visa' : 'Mastercard'} •••• ${card.card.last4}, expires ${card.card.exp_month}/${card.card.exp_year}`
    : 'No card on file';
  return html`<section class="card stack" aria-labelledby="card">
    <h2 id="card">Payment method</h2>
    <p>${held}</p>
    <form method="post" action="/portal/${session.id}/card">
      <details ${session.flow?.type === 'payment_method_update' ? 'open' : ''}>
        <summary>Choose the new card</summary>
        ${cardChoice()}
      </details>
      <button>Update payment method</button>
    </form>
  </section>`;
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

/** The end of a flow that asked for a page of its own. */
export function confirmationPage(world: World, { id }: PortalSession, message: string | null): Html {
  const content = html`<section class="card stack">
    <h1>Done</h1>
    <p>${message ?? 'Your changes are saved.'}</p>
    <form method="post" action="/portal/${id}/return">
      <button class="primary">Return to ${world.settings.businessName}</button>
    </form>
  </section>`;
  return layout(world, 'Done', content);
}
