import { html } from 'hono/html';
import type { TestCard } from '../billing/test-cards.ts';
import { type Html, layout } from './layout.ts';
import type { World } from '../types/world.ts';

type Form = Record<string, unknown>;

export const authenticationProblem =
  'We are unable to authenticate your payment method. Please choose a different payment method and try again.';

/** Whether the cardholder has authenticated the card of a form. */
export function authenticationOf(form: Form, card: TestCard | undefined): 'done' | 'failed' | 'missing' {
  if (form['authentication'] === 'fail') return 'failed';
  return form['authentication'] === 'complete' || !card?.authentication ? 'done' : 'missing';
}

type Step = { action: string; fields?: Record<string, string> };

/** The authentication page of the card's bank, which comes before the form's action. */
export function authenticationPage(world: World, step: Step): Html {
  const content = html`<section class="card stack">
    <h1>Authentication needed</h1>
    <p class="soft">The bank that issued this card asks the cardholder to confirm the payment.</p>
    ${authenticationForm(step)}
  </section>`;
  return layout(world, 'Authentication', content);
}

export function authenticationForm({ action, fields = {} }: Step): Html {
  return html`<form method="post" action="${action}" class="stack">
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button class="primary" name="authentication" value="complete">Complete authentication</button>
    <button name="authentication" value="fail">Fail authentication</button>
  </form>`;
}
