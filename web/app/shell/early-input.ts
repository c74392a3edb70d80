import { sendsOnEnter } from '../../rules/sends-on-enter.ts';
import { shellRoot } from './shell-root.ts';

/**
 * What the frame of the chat does before React has taken it over: help opens at once, and other buttons are noted like
 * forms (`head-script.ts`), for `save-typed-input.ts`.
 */
export function handleEarlyInput(): void {
  addEventListener('click', ({ target }) => {
    const button = shellRoot() && target instanceof Element ? target.closest('button') : null;
    if (button?.dataset['opens'] === 'help') location.assign('/help-now');
    else if (button?.type === 'button') button.dataset['sent'] = 'early';
  });
  addEventListener('input', ({ target }) => {
    // The copy of the text that determines the height of the field.
    if (shellRoot() && isField(target)) target.parentElement?.setAttribute('data-text', `${target.value}\n`);
  });
  addEventListener('keydown', (event) => {
    if (!shellRoot() || !isField(event.target) || !sendsOnEnter(event)) return;
    event.preventDefault();
    event.target.form?.requestSubmit();
  });
}

const isField = (target: EventTarget | null) => target instanceof HTMLTextAreaElement;
