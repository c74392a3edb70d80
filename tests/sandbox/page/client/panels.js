import { byId, call, currentNumber, dateOf, el, format, phonePath, timeOf, whenChanged } from './shared.js';

/** Actions of the bot's operators: a trial, an approval, an external token. */
export function startAccount(refresh) {
  async function perform(work, done) {
    const said = await work().then(
      () => done,
      (error) => error.message,
    );
    byId('account-notice').textContent = said;
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

/** The web conversation as the bot received it, the bot's mode, and a form to write as the bot. */
export function startChat(refresh) {
  const show = whenChanged((received, replies) => {
    const all = [...received, ...replies].toSorted((a, b) => a.at.localeCompare(b.at));
    byId('chat').replaceChildren(
      ...(all.length > 0 ? all.map(bubble) : [el('li', { className: 'empty' }, 'Nothing yet.')]),
    );
  });
  byId('bot-mode').addEventListener('change', (event) => {
    void call('PUT', '/bot/mode', { mode: event.target.value }).finally(refresh);
  });
  byId('reply-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void write(event.target).finally(refresh);
  });
  return ({ chat, replies, mode }) => {
    show(chat ?? [], replies ?? []);
    if (document.activeElement !== byId('bot-mode')) byId('bot-mode').value = mode.mode;
  };
}

async function write(form) {
  const { text, crisis } = Object.fromEntries(new FormData(form));
  const reply = { phone: `+${currentNumber()}`, text, crisis: crisis === 'on' };
  const complaint = await call('POST', '/bot/replies', reply).then(
    () => '',
    (error) => error.message,
  );
  byId('reply-notice').textContent = complaint;
  if (!complaint) form.reset();
}

function bubble({ text, at, messageId, crisis }) {
  const who = messageId ? 'They wrote' : crisis ? 'The bot, marked as a crisis' : 'The bot';
  return el('li', {}, el('b', {}, who), el('time', { dateTime: at }, timeOf(at)), el('span', {}, text));
}

/** The events that the bot received, newest first. */
export function startEvents() {
  const show = whenChanged((events) => {
    const items = events.toReversed().map(item);
    byId('events').replaceChildren(...(items.length > 0 ? items : [el('li', { className: 'empty' }, 'Nothing yet.')]));
  });
  return ({ events }) => show(events.slice(-50));
}

function item({ type, timestamp, data }) {
  const { phone = '', ...rest } = data;
  const more = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  const who = format(phone.replace(/\D/g, ''));
  return el('li', {}, el('b', {}, type), el('time', {}, dateOf(timestamp)), el('span', {}, [who, ...more].join(', ')));
}

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

const names = { libsql: 'Database', stripe: 'Stripe', whatsapp: 'WhatsApp', bot: 'Bot', push: 'Push service' };
const moods = [
  { label: 'works', fault: null },
  { label: 'is slow (3 s)', fault: { delayMs: 3000 } },
  { label: 'responds 503', fault: { status: 503 } },
  { label: 'responds 500', fault: { status: 500 } },
  { label: 'hangs up', fault: { drop: true } },
  { label: 'works, then hangs up', fault: { cut: true } },
];

/** The controls that break or slow a service, with the number of its requests. */
export function startFaults(refresh) {
  const rows = Object.entries(names).map(([service, name]) => row(service, name, refresh));
  byId('faults').replaceChildren(...rows.map(({ item }) => item));
  byId('clear-stats').addEventListener('click', () => void call('DELETE', '/stats').then(refresh));

  const show = whenChanged((faults, stats) => {
    for (const each of rows) each.show(faults[each.service], stats[each.service]);
  });
  return ({ faults, stats }) => show(faults, stats);
}

function row(service, name, refresh) {
  const select = el('select', {}, ...moods.map(({ label }, index) => el('option', { value: index }, label)));
  const count = el('output');
  select.addEventListener('change', () => {
    void call('PUT', '/faults', { [service]: moods[select.value].fault }).then(refresh);
  });
  const item = el('li', {}, el('label', {}, el('span', {}, name), select, count));
  return { service, item, show: (fault, asked) => draw(select, count, fault, asked) };
}

function draw(select, count, fault, asked) {
  const wanted = JSON.stringify(fault);
  const known = moods.findIndex((mood) => JSON.stringify(mood.fault) === wanted);
  const other = select.querySelector('[value=other]');
  if (known < 0 && !other) select.append(el('option', { value: 'other', disabled: true }, 'other'));
  if (known >= 0) other?.remove();
  select.value = known < 0 ? 'other' : String(known);
  select.classList.toggle('broken', fault !== null);
  count.textContent = `${asked} asked`;
}
