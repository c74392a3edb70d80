import { call } from './call.js';
import { byId } from './dom.js';
import { phonePath } from './number.js';

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
