import { startAccount } from './account.js';
import { startBilling } from './billing.js';
import { call } from './call.js';
import { startChat } from './chat.js';
import { startEvents } from './events.js';
import { startFaults } from './faults.js';
import { startMessages } from './messages.js';
import { currentNumber, pick } from './number.js';
import { startNumbers } from './numbers.js';
import { startWriting } from './write.js';

const pauseMs = 1000;
let timer;

pick(currentNumber());
startWriting(refresh);
startAccount(refresh);
const shows = [
  startNumbers(refresh),
  startMessages(),
  startChat(refresh),
  startEvents(),
  startFaults(refresh),
  startBilling(refresh),
];
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
