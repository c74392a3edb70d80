import { html } from 'hono/html';
import { findTestCard, type TestCard, testCards } from '../billing/test-cards.ts';
import type { Html } from './layout.ts';

/** Which test card to pay with; the one that works is chosen already. */
export function cardChoice(chosen = testCards[0].number): Html {
  return html`<fieldset>
    <legend>Card</legend>
    ${testCards.map(
      ({ number, note }) =>
        html`<label class="choice">
          <input type="radio" name="card" value="${number}" ${number === chosen ? 'checked' : ''} />
          <b>${number.replaceAll(/(\d{4})(?=\d)/g, '$1 ')}</b>
          <span>${note}</span>
        </label>`,
    )}
  </fieldset>`;
}

/** The card that a form names; without a name the one that works. */
export function chosenCard({ card }: Record<string, unknown>): TestCard {
  return findTestCard(typeof card === 'string' ? card : '') ?? testCards[0];
}
