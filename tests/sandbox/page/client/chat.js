import { call } from './call.js';
import { byId, el, whenChanged } from './dom.js';
import { currentNumber } from './number.js';
import { timeOf } from './time.js';

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
