const pauseMs = 1000;
const day = 86_400;
const key = 'sandbox-number';
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });

/** The selected phone: digits only. */
let current = tidy(decodeURIComponent(location.hash)) || localStorage.getItem(key) || '15551234567';
/** The state that is on the page, to draw only what has changed. */
let shown = '';
let timer;

const byId = (id) => document.getElementById(id);
const dateOf = (at) => calendar.format(new Date(at));
const dateOfUnix = (seconds) => dateOf(seconds * 1000);
/** A control call about the selected phone. */
const callPhone = (method, part, input) => call(method, `/phones/%2B${current}/${part}`, input);

byId('number-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const number = tidy(byId('number').value);
  byId('number-hint').textContent = number ? '' : 'A plus sign, the country code and the number.';
  if (number) pick(number);
});
byId('fresh-number').addEventListener('click', () => {
  const [random] = crypto.getRandomValues(new Uint32Array(1));
  pick(`1555${String(random % 10_000_000).padStart(7, '0')}`);
});
byId('hidden-number').addEventListener('change', ({ target }) => {
  void callPhone('PUT', 'hidden', { hidden: target.checked }).then(refresh);
});
byId('write-form').addEventListener('submit', (event) => {
  event.preventDefault();
  if (byId('text').value.trim()) write({});
});
byId('voice').addEventListener('click', () => write({ voice: true }));
byId('trial-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const { tier, days } = Object.fromEntries(new FormData(event.target));
  const sent = callPhone('POST', 'trial', { tier, days: Number(days) });
  report('account-notice', sent, 'The link is on the phone.');
});
for (const button of document.querySelectorAll('[data-status]')) {
  const { status } = button.dataset;
  button.addEventListener('click', () =>
    report('account-notice', callPhone('POST', 'status', { status }), `The account is ${status}.`),
  );
}
byId('external').addEventListener('click', () =>
  report('account-notice', openSignedIn(), 'Opened in a new tab.'),
);
document.addEventListener('visibilitychange', refresh);
pick(current);

/** Calls the sandbox and returns its JSON; throws an Error with a readable message. */
async function call(method, path, input) {
  const response = await fetch(path, { method, ...(input && { body: JSON.stringify(input) }) });
  const body = await response.json();
  if (response.ok) return body;
  throw new Error([body.error, body.response?.message].filter(Boolean).join(': '));
}

/** Says in an element what became of a call. */
function report(id, sent, done = '') {
  const outcome = sent.then(
    () => done,
    (error) => error.message,
  );
  void outcome.then((text) => (byId(id).textContent = text)).then(refresh);
}

/** The digits of a typed number; '' if it is none. */
function tidy(text) {
  const found = text.replace(/[\s#+().-]/g, '');
  return /^\d{7,15}$/.test(found) ? found : '';
}

function pick(number) {
  current = number;
  byId('number').value = '';
  localStorage.setItem(key, number);
  history.replaceState(null, '', `#+${number}`);
  refresh();
}

function write(kind) {
  const text = byId('text').value.trim();
  byId('text').value = '';
  report('notice', callPhone('POST', 'messages', { ...kind, ...(text && { text }) }));
}

async function openSignedIn() {
  const tab = window.open('about:blank', '_blank');
  const { token } = await callPhone('POST', 'external-token', {});
  tab.location.href = `${document.body.dataset.site}/login#external_token=${token}`;
}

/** Draws the current state, repeatedly while the page is visible. */
function refresh() {
  clearTimeout(timer);
  if (document.hidden) return;
  void readState().finally(() => {
    clearTimeout(timer);
    timer = setTimeout(refresh, pauseMs);
  });
}

async function readState() {
  const number = current;
  const state = await call('GET', `/page/state?phone=%2B${number}`).catch(() => null);
  document.body.classList.toggle('away', state === null);
  if (!state || number !== current) return;
  const { clock, ...rest } = state;
  const drawn = { number, ...rest, time: dateOfUnix(clock.now) };
  const text = JSON.stringify(drawn);
  if (text === shown) return;
  shown = text;
  draw(drawn);
}

function draw({ number, phones, messages, events, mails, billing, time }) {
  byId('hidden-number').checked = phones.some((phone) => phone.number === number && phone.hidden);
  byId('phone-number').textContent = format(number);
  byId('recent').replaceChildren(...phones.slice(0, 12).map(phoneItem));
  byId('messages').replaceChildren(...messages.map(bubble));
  byId('messages').scrollTop = byId('messages').scrollHeight;
  byId('events').replaceChildren(...events.slice(-50).toReversed().map(eventItem));
  byId('mails').replaceChildren(...mails.toReversed().map(mailItem));
  const none = element('p', { className: 'hint' }, 'No customer for this number.');
  byId('billing').replaceChildren(
    element('p', { className: 'hint' }, `Stripe’s clock says ${time}.`),
    buttons({ 'A day later': () => pass(day), 'Eight days later': () => pass(8 * day) }),
    ...(billing ? customer(billing) : [none]),
  );
}

/** A new element; names with a hyphen are attributes. */
function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-')) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

function buttons(actions) {
  const all = Object.entries(actions).map(([label, onclick]) =>
    element('button', { type: 'button', onclick }, label),
  );
  return element('div', { className: 'line' }, ...all);
}

/** The number in a readable format. */
function format(number) {
  const american = /^1(\d{3})(\d{3})(\d{4})$/.exec(number);
  return american ? `+1 ${american.slice(1).join(' ')}` : `+${number}`;
}

function phoneItem({ number, lastAt }) {
  const when = element('span', { className: 'hint' }, dateOf(lastAt));
  const properties = {
    type: 'button',
    onclick: () => pick(number),
    'aria-current': number === current,
  };
  return element('li', {}, element('button', properties, format(number), when));
}

function bubble({ from, text, at }) {
  const when = element('time', { className: 'hint', dateTime: at }, dateOf(at));
  return element('li', { className: from }, ...linked(text), when);
}

function linked(text) {
  return text.split(/(https?:\/\/\S+)/).map((part, index) => {
    if (index % 2 === 0) return part;
    // Without its token.
    const { host, pathname, search } = new URL(part);
    const shown = `${host}${pathname}${search && '?…'}`;
    return element('a', { href: part, target: '_blank', rel: 'noopener' }, shown);
  });
}

function eventItem({ type, timestamp, data }) {
  const { phone = '', ...rest } = data;
  const more = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  const text = [format(phone.replace(/\D/g, '')), ...more].join(', ');
  const details = element('p', { className: 'hint' }, text);
  return element('li', {}, element('b', {}, type), element('time', {}, dateOf(timestamp)), details);
}

function mailItem({ to, subject, text, at }) {
  const recipient = element('p', { className: 'hint' }, [to].flat().join(', '));
  const body = element('details', {}, element('summary', {}, 'Read'), ...linked(text));
  return element(
    'li',
    {},
    element('b', {}, subject),
    element('time', {}, dateOf(at)),
    recipient,
    body,
  );
}

const pass = (seconds) => call('POST', '/stripe/clock', { advanceSeconds: seconds }).then(refresh);
const card = (declines) =>
  call('POST', `/stripe/customers/%2B${current}/card`, { declines }).then(refresh);

function customer({ customer: { id }, subscriptions, schedules, invoices }) {
  const facts = [
    ['Customer', id],
    ...subscriptions.map((subscription) => ['Subscription', describe(subscription)]),
    ...schedules.map(({ status }) => ['Schedule', status]),
    ...invoices
      .slice(0, 5)
      .map(({ status, total }) => ['Invoice', `$${(total / 100).toFixed(2)}, ${status}`]),
  ];
  const list = facts.flatMap(([name, value]) => [
    element('dt', {}, name),
    element('dd', {}, value),
  ]);
  const cards = buttons({
    'Card starts failing': () => card(true),
    'Card works again': () => card(false),
  });
  return [element('dl', {}, ...list), cards];
}

function describe({ status, cancel_at_period_end: ends, items }) {
  const [{ price, current_period_end: until }] = items.data;
  return `${price.lookup_key ?? price.id}, ${status}, ${ends ? 'ends' : 'until'} ${dateOfUnix(until)}`;
}
