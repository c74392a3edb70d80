import { call } from './call.js';
import { byId } from './dom.js';
import { phonePath } from './number.js';

/** Actions of the bot's operators: a trial, an approval, an external token. */
export function startAccount(refresh) {
  async function perform(work, done) {
    const said = await work().then(
      () => done,
      (error) => error.message,
    );
    byId('account-notice').textContent = said;
    refresh();
  }

  byId('trial-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const { tier, days } = Object.fromEntries(new FormData(event.target));
    const work = () => call('POST', phonePath('trial'), { tier, days: Number(days) });
    void perform(work, 'The link is on the phone.');
  });
  for (const button of document.querySelectorAll('[data-status]')) {
    const { status } = button.dataset;
    const work = () => call('POST', phonePath('status'), { status });
    button.addEventListener('click', () => void perform(work, `The account is ${status}.`));
  }
  byId('external').addEventListener('click', () => void perform(openSignedIn, 'Opened in a new tab.'));
}

async function openSignedIn() {
  const tab = window.open('about:blank', '_blank');
  const { token } = await call('POST', phonePath('external-token'), {});
  tab.location.href = `${document.body.dataset.site}/login#external_token=${token}`;
}
