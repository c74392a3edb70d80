import { call } from './call.js';
import { byId, el, whenChanged } from './dom.js';
import { phonePath } from './number.js';
import { dateOf } from './time.js';

const day = 86_400;

/** The person's objects at Stripe, and Stripe's clock. */
export function startBilling(refresh) {
  const show = whenChanged((clock, billing) => {
    byId('billing').replaceChildren(...content(clock, billing, refresh));
  });
  return ({ clock, billing }) => show(clock, billing);
}

function content(clock, billing, refresh) {
  if (!clock) return [el('p', { className: 'hint' }, 'Billing is not there yet.')];
  const now = el('p', { className: 'hint' }, `Stripe’s clock says ${unix(clock.now)}.`);
  const holds = billing ? customer(billing, refresh) : [el('p', { className: 'hint' }, 'No customer for this number.')];
  return [now, passing(refresh), ...holds];
}

function passing(refresh) {
  const steps = [
    ['A day', day],
    ['Eight days', 8 * day],
  ];
  const buttons = steps.map(([label, seconds]) => {
    const onclick = () => void call('POST', '/stripe/clock', { advanceSeconds: seconds }).then(refresh);
    return el('button', { type: 'button', onclick }, `${label} later`);
  });
  return el('div', { className: 'line' }, ...buttons);
}

function customer({ customer: { id }, subscriptions, schedules, invoices }, refresh) {
  const card = (declines) => {
    const path = phonePath('card').replace('/phones/', '/stripe/customers/');
    const onclick = () => void call('POST', path, { declines }).then(refresh);
    return el('button', { type: 'button', onclick }, declines ? 'Card starts failing' : 'Card works again');
  };
  const facts = [
    ['Customer', id],
    ...subscriptions.map((subscription) => ['Subscription', describe(subscription)]),
    ...schedules.map(({ status }) => ['Schedule', status]),
    ...invoices.slice(0, 5).map(({ status, total }) => ['Invoice', `$${(total / 100).toFixed(2)}, ${status}`]),
  ];
  const list = facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]);
  return [el('dl', {}, ...list), el('div', { className: 'line' }, card(true), card(false))];
}

function describe({ status, cancel_at_period_end: ends, items }) {
  const [item] = items?.data ?? [];
  const plan = item?.price?.lookup_key ?? item?.price?.nickname ?? '';
  const until = item?.current_period_end;
  return [plan, status, until && `${ends ? 'ends' : 'until'} ${unix(until)}`].filter(Boolean).join(', ');
}

function unix(seconds) {
  return dateOf(seconds * 1000);
}
