import { html } from 'hono/html';
import { findTestCard, type TestCard, testCards } from '../billing/test-cards.ts';
import type { Html } from './layout.ts';

/** The value of the choice that is not a card. */
export const bankAccount = 'us_bank_account';
const bankChoice = { value: bankAccount, title: 'US bank account', note: 'A bank debit, confirmed after four days' };

type Choice = { value: string; title: string; note: string };

const cardChoices = testCards.flatMap(({ number, note }): Choice[] =>
  note === undefined ? [] : [{ value: number, title: number.replaceAll(/(\d{4})(?=\d)/g, '$1 '), note }],
);

/** A choice of test cards, by default the working one; `types` are the allowed payment methods. */
export function cardChoice(chosen: string = testCards[0].number, types: readonly string[] = ['card']): Html {
  const choices = types.includes(bankAccount) ? [...cardChoices, bankChoice] : cardChoices;
  return html`<fieldset>
    <legend>Card</legend>
    ${choices.map(
      ({ value, title, note }) =>
        html`<label class="choice">
          <input type="radio" name="card" value="${value}" ${value === chosen ? 'checked' : ''} />
          <b>${title}</b>
          <span>${note}</span>
        </label>`,
    )}
  </fieldset>`;
}

/** The test card of a form; by default the one that works. */
export function chosenCard({ card }: Record<string, unknown>): TestCard {
  return findTestCard(typeof card === 'string' ? card : '') ?? testCards[0];
}
