import { byId, el, whenChanged } from './dom.js';
import { currentNumber, format, freshNumber, pick, tidy } from './number.js';
import { ago } from './time.js';

/** The list of phones, to select one. */
export function startNumbers(refresh) {
  const choose = (number) => {
    pick(number);
    byId('number').value = '';
    byId('number-hint').textContent = '';
    refresh();
  };

  byId('number-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const number = tidy(byId('number').value);
    if (number) choose(number);
    else byId('number-hint').textContent = 'A plus sign, the country code and the number.';
  });
  byId('fresh-number').addEventListener('click', () => choose(freshNumber()));

  const show = whenChanged((phones) => {
    byId('phone-number').textContent = format(currentNumber());
    byId('recent').replaceChildren(...phones.map((phone) => item(phone, () => choose(phone.number))));
    byId('recent').querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  return ({ phones }) => show(phones.slice(0, 12).map(described));
}

function described({ number, lastAt }) {
  return { number, when: ago(lastAt), current: number === currentNumber() };
}

function item({ number, when, current }, onclick) {
  const button = el('button', { type: 'button', onclick }, el('b', {}, format(number)), el('span', {}, when));
  if (current) button.setAttribute('aria-current', 'true');
  return el('li', {}, button);
}
