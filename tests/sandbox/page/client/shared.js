/** Calls the sandbox and returns its JSON; throws an Error with a readable message. */
export async function call(method, path, input) {
  const response = await fetch(path, { method, ...(input && { body: JSON.stringify(input) }) });
  const body = await response.json();
  if (!response.ok) throw new Error(explain(body));
  return body;
}

function explain({ error, response }) {
  return response?.message ? `${error}: ${response.message}` : (error ?? 'That did not work.');
}

/** The message of an error, or what is said when the work is done. */
export const outcomeOf = (work, done = '') =>
  work().then(
    () => done,
    (error) => error.message,
  );

/** The element of an id. */
export const byId = (id) => document.getElementById(id);

/** A new element; `on…` properties add listeners, those with a hyphen set attributes. */
export function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-')) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

/** Calls `show` only if its data has changed, to avoid flicker. */
export function whenChanged(show) {
  let shown;
  return (...parts) => {
    const now = JSON.stringify(parts);
    if (now === shown) return;
    shown = now;
    show(...parts);
  };
}

const key = 'sandbox-number';

/** The selected phone: digits only. */
let digits = tidy(decodeURIComponent(location.hash)) || localStorage.getItem(key) || '15551234567';

export const currentNumber = () => digits;

/** The path of the selected phone. */
export const phonePath = (rest) => `/phones/${encodeURIComponent(`+${digits}`)}/${rest}`;

export function pick(number) {
  digits = number;
  localStorage.setItem(key, number);
  history.replaceState(null, '', `#+${number}`);
}

/** The digits of a typed number; '' if it is none. */
export function tidy(text) {
  const found = text.replace(/[\s#+().-]/g, '');
  return /^\d{7,15}$/.test(found) ? found : '';
}

/** The number in a readable format. */
export function format(number) {
  const american = /^1(\d{3})(\d{3})(\d{4})$/.exec(number);
  return american ? `+1 ${american.slice(1).join(' ')}` : `+${number}`;
}

export function freshNumber() {
  const [random] = crypto.getRandomValues(new Uint32Array(1));
  return `1555${String(random % 10_000_000).padStart(7, '0')}`;
}

const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'short' });

export const dateOf = (at) => calendar.format(new Date(at));
