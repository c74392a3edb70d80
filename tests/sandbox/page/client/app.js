import { startAccount, startBilling, startEvents } from './panels.js';
import { startMessages, startNumbers, startWriting } from './phone.js';
import { call, currentNumber, pick } from './shared.js';

const pauseMs = 1000;
let timer;

pick(currentNumber());
startWriting(refresh);
startAccount(refresh);
const shows = [startNumbers(refresh), startMessages(), startEvents(), startBilling(refresh)];
document.addEventListener('visibilitychange', refresh);
refresh();

/** Draws the current state, repeatedly while the page is visible. */
function refresh() {
  clearTimeout(timer);
  if (document.hidden) return;
  void draw().finally(() => {
    clearTimeout(timer);
    timer = setTimeout(refresh, pauseMs);
  });
}

async function draw() {
  const number = currentNumber();
  const state = await call('GET', `/page/state?phone=%2B${number}`).catch(() => null);
  document.body.classList.toggle('away', state === null);
  if (state && number === currentNumber()) for (const show of shows) show(state);
}
