import { html } from 'hono/html';
import { longDate } from '../interval.ts';
import { formatMoney } from '../money.ts';
import { cardChoice } from './card-choice.ts';
import type { Html } from './layout.ts';
import { nextDate, type Plan, type Portal } from './read-portal.ts';
import type { PaymentMethod } from '../types/payment-methods.ts';
import type { PortalSession } from '../types/portal-sessions.ts';

const states: Record<string, string> = {
  active: 'Active',
  trialing: 'Free trial',
  past_due: 'Payment past due',
  unpaid: 'Unpaid',
  paused: 'Paused',
};

export const noPlan = html`<section class="card stack">
  <h2>No active plan</h2>
  <p class="soft">There is no subscription to manage at the moment.</p>
</section>`;

export function planSection(portal: Portal): Html {
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

export function cardSection({ session, card }: Portal): Html {
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
  if (!card) return 'US bank account';
  const brand = card.brand === 'visa' ? 'Visa' : 'Mastercard';
  return `${brand} •••• ${card.last4}, expires ${card.exp_month}/${card.exp_year}`;
}

export function invoiceSection({ features, invoices }: Portal): Html | string {
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
