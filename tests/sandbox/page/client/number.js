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
