import { byId, el, whenChanged } from './dom.js';
import { format } from './number.js';
import { dateOf } from './time.js';

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
