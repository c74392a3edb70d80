import { byId, call, dateOf, el, format, outcomeOf, phonePath, whenChanged } from './shared.js';

/** Actions of the bot's operators: a trial, an approval, an external token. */
export function startAccount(refresh) {
  async function perform(work, done) {
    byId('account-notice').textContent = await outcomeOf(work, done);
    refresh();
  }

  byId('trial-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const { tier, days } = Object.fromEntries(new FormData(event.target));
    const work = () => call('POST', phonePath('trial'), { tier, days: Number(days) });
    void perform(work, 'The link is on the phone.');
  });
  for (const button of document.querySelectorAll('[data-status]')) {
    const { status } = button.dataset;
    const work = () => call('POST', phonePath('status'), { status });
    button.addEventListener('click', () => void perform(work, `The account is ${status}.`));
  }
  byId('external').addEventListener('click', () => void perform(openSignedIn, 'Opened in a new tab.'));
}

async function openSignedIn() {
  const tab = window.open('about:blank', '_blank');
  const { token } = await call('POST', phonePath('external-token'), {});
  tab.location.href = `${document.body.dataset.site}/login#external_token=${token}`;
}

/** The events that the bot received, newest first. */
export function startEvents() {
  const show = whenChanged((events) => byId('events').replaceChildren(...events.toReversed().map(item)));
  return ({ events }) => show(events.slice(-50));
}

function item({ type, timestamp, data }) {
  const { phone = '', ...rest } = data;
  const more = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  const text = [format(phone.replace(/\D/g, '')), ...more].join(', ');
  return el('li', {}, el('b', {}, type), el('time', {}, dateOf(timestamp)), el('p', { className: 'hint' }, text));
}

const day = 86_400;

/** The person's objects at Stripe, and Stripe's clock. */
export function startBilling(refresh) {
  const show = whenChanged((time, billing) => {
    const now = el('p', { className: 'hint' }, `Stripe’s clock says ${time}.`);
    const none = el('p', { className: 'hint' }, 'No customer for this number.');
    byId('billing').replaceChildren(now, passing(refresh), ...(billing ? customer(billing, refresh) : [none]));
  });
  return ({ clock, billing }) => show(unix(clock.now), billing);
}

function passing(refresh) {
  const pass = (seconds) => call('POST', '/stripe/clock', { advanceSeconds: seconds }).then(refresh);
  return buttons({ 'A day later': () => pass(day), 'Eight days later': () => pass(8 * day) });
}

function customer({ customer: { id }, subscriptions, schedules, invoices }, refresh) {
  const path = phonePath('card').replace('/phones/', '/stripe/customers/');
  const card = (declines) => call('POST', path, { declines }).then(refresh);
  const facts = [
    ['Customer', id],
    ...subscriptions.map((subscription) => ['Subscription', describe(subscription)]),
    ...schedules.map(({ status }) => ['Schedule', status]),
    ...invoices.slice(0, 5).map(({ status, total }) => ['Invoice', `$${(total / 100).toFixed(2)}, ${status}`]),
  ];
  const list = facts.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]);
  const cards = buttons({ 'Card starts failing': () => card(true), 'Card works again': () => card(false) });
  return [el('dl', {}, ...list), cards];
}

function buttons(actions) {
  const all = Object.entries(actions).map(([label, onclick]) => el('button', { type: 'button', onclick }, label));
  return el('div', { className: 'line' }, ...all);
}

function describe({ status, cancel_at_period_end: ends, items }) {
  const [{ price, current_period_end: until }] = items.data;
  return `${price.lookup_key ?? price.id}, ${status}, ${ends ? 'ends' : 'until'} ${unix(until)}`;
}

const unix = (seconds) => dateOf(seconds * 1000);
