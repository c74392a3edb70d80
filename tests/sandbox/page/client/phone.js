import {
  byId,
  call,
  currentNumber,
  dateOf,
  el,
  format,
  freshNumber,
  outcomeOf,
  phonePath,
  pick,
  tidy,
  whenChanged,
} from './shared.js';

/** The phone's messages; the newest one stays in sight. */
export function startMessages() {
  const list = byId('messages');
  const show = whenChanged((number, messages) => {
    const hint = el('li', { className: 'hint' }, 'Nothing here yet. Write “Hi” to begin.');
    list.replaceChildren(...(messages.length > 0 ? messages.map(bubble) : [hint]));
    list.scrollTop = list.scrollHeight;
  });
  return ({ messages }) => show(currentNumber(), messages);
}

function bubble({ from, text, at }) {
  const when = el('time', { className: 'hint', dateTime: at }, dateOf(at));
  return el('li', { className: from }, ...linked(text), when);
}

function linked(text) {
  return text.split(/(https?:\/\/\S+)/).map((part, index) => {
    if (index % 2 === 0) return part;
    // Without its token.
    const { host, pathname, search } = new URL(part);
    const shown = `${host}${pathname}${search && '?…'}`;
    return el('a', { href: part, target: '_blank', rel: 'noopener' }, shown);
  });
}

/** The form to write a text or voice message. */
export function startWriting(refresh) {
  const box = byId('text');

  async function send(voice) {
    const text = box.value.trim();
    if (!text && !voice) return box.focus();
    box.value = '';
    const message = { ...(text && { text }), ...(voice && { voice }) };
    byId('notice').textContent = await outcomeOf(() => call('POST', phonePath('messages'), message));
    refresh();
  }

  byId('write-form').addEventListener('submit', (event) => {
    event.preventDefault();
    void send(false);
  });
  byId('voice').addEventListener('click', () => void send(true));
}

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
  byId('hidden-number').addEventListener('change', ({ target }) => {
    void call('PUT', phonePath('hidden'), { hidden: target.checked }).then(refresh);
  });

  const show = whenChanged((current, phones) => {
    byId('hidden-number').checked = phones.some(({ number, hidden }) => number === current && hidden);
    byId('phone-number').textContent = format(current);
    const items = phones.map(({ number, lastAt }) => item(number, lastAt, number === current, () => choose(number)));
    byId('recent').replaceChildren(...items);
  });
  return ({ phones }) => show(currentNumber(), phones.slice(0, 12));
}

function item(number, lastAt, isCurrent, onclick) {
  const when = el('span', { className: 'hint' }, dateOf(lastAt));
  const properties = { type: 'button', onclick, 'aria-current': isCurrent };
  return el('li', {}, el('button', properties, format(number), when));
}
