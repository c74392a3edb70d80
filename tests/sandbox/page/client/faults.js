import { call } from './call.js';
import { byId, el, whenChanged } from './dom.js';

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
