import {
  ago,
  byId,
  call,
  currentNumber,
  el,
  format,
  freshNumber,
  phonePath,
  pick,
  tidy,
  timeOf,
  whenChanged,
} from './shared.js';

/** The phone's messages; draws only new ones, so that a selection stays. */
export function startMessages() {
  const list = byId('messages');
  let drawn = { number: '', ids: [] };

  const show = whenChanged((number, messages) => {
    const ids = messages.map(({ id }) => id);
    const continues = number === drawn.number && drawn.ids.length > 0 && drawn.ids.every((id, i) => id === ids[i]);
    const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 80;
    const fresh = continues ? messages.slice(drawn.ids.length) : messages;
    if (!continues) list.replaceChildren();
    list.append(...fresh.map(bubble));
    if (messages.length === 0) list.append(empty());
    drawn = { number, ids };
    if (!continues || atEnd) list.scrollTop = list.scrollHeight;
  });
  return ({ messages }) => show(currentNumber(), messages);
}

function bubble({ from, text, at, code, voice }) {
  const said = voice ? el('p', { className: 'voice' }, wave(), text) : el('p', {}, ...linked(text));
  const when = el('time', { dateTime: at }, timeOf(at));
  return el('li', { className: from }, said, when, code ? copyButton(code) : null);
}

function copyButton(code) {
  const label = `Copy code ${code}`;
  const button = el('button', { type: 'button', className: 'copy' }, label);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
}

function linked(text) {
  return text.split(/(https?:\/\/\S+)/).map((part, index) => {
    if (index % 2 === 0) return part;
    return el('a', { href: part, target: '_blank', rel: 'noopener' }, short(part));
  });
}

/** A link, shown without its token. */
function short(link) {
  const { host, pathname, search } = new URL(link);
  return `${host}${pathname}${search && '?…'}`;
}

function wave() {
  const bars = [5, 9, 14, 8, 12, 16, 9, 6, 11, 7, 4].map((height) => {
    const bar = el('i');
    bar.style.height = `${height}px`;
    return bar;
  });
  return el('span', { 'aria-hidden': 'true' }, ...bars);
}

function empty() {
  return el('li', { className: 'empty' }, 'Nothing here yet. Write “Hi” to begin.');
}

/** The form to write a text or voice message. */
export function startWriting(refresh) {
  const box = byId('text');

  async function send(voice) {
    const text = box.value.trim();
    if (!text && !voice) return box.focus();
    box.value = '';
    const sent = call('POST', phonePath('messages'), { ...(text && { text }), ...(voice && { voice }) });
    const complaint = await sent.then(
      () => '',
      (error) => error.message,
    );
    byId('notice').textContent = complaint;
    byId('notice').hidden = !complaint;
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

  const show = whenChanged((phones) => {
    byId('hidden-number').checked = phones.some(({ current, hidden }) => current && hidden);
    byId('phone-number').textContent = format(currentNumber());
    byId('recent').replaceChildren(...phones.map((phone) => item(phone, () => choose(phone.number))));
    byId('recent').querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
  return ({ phones }) => show(phones.slice(0, 12).map(described));
}

function described({ number, lastAt, hidden = false }) {
  return { number, hidden, when: ago(lastAt), current: number === currentNumber() };
}

function item({ number, when, current }, onclick) {
  const button = el('button', { type: 'button', onclick }, el('b', {}, format(number)), el('span', {}, when));
  if (current) button.setAttribute('aria-current', 'true');
  return el('li', {}, button);
}
