import type { Context } from 'hono';
import { html } from 'hono/html';
import { StripeError } from '../api/errors.ts';
import { actionRequired } from '../payments/charges.ts';
import type { Payment } from '../payments/intents.ts';
import { findTestCard, testCards } from '../payments/payment-methods.ts';
import { businessName } from '../world.ts';

export type Html = ReturnType<typeof html>;

type Head = { title: string; locale?: string | null };

/** The layout of every hosted page. */
export function layout({ title, locale = null }: Head, content: Html): Html {
  return html`<!doctype html>
    <html lang="${locale === null || locale === 'auto' ? 'en' : locale}">
      <head>
        <meta charset="utf-8" />
        <meta
          name="viewport"
          content="width=device-width, initial-scale=1"
        />
        <meta
          name="robots"
          content="noindex"
        />
        <meta
          name="referrer"
          content="no-referrer"
        />
        <title>${title} · ${businessName}</title>
        <link
          rel="icon"
          href="data:,"
        />
        <link
          rel="stylesheet"
          href="/stripe/pages.css"
        />
      </head>
      <body>
        <main lang="en">
          <header>
            <p class="merchant">
              <i aria-hidden="true">${businessName.slice(0, 1)}</i>${businessName}
            </p>
            <span class="badge">Test mode</span>
          </header>
          ${content}
        </main>
      </body>
    </html>`;
}

/** An error message, which screen readers announce at once. */
export function problem(message: string | undefined): Html | string {
  return message
    ? html`<p
        class="notice bad"
        role="alert"
      >
        ${message}
      </p>`
    : '';
}

/** A page of a closed session, with a link back. */
export function closedPage({
  title,
  text,
  back,
}: {
  title: string;
  text: string;
  back: string | null;
}): Html {
  const content = html`<section class="card stack">
    <h1>${title}</h1>
    <p class="soft">${text}</p>
    ${
      back
        ? html`<a
            class="button primary"
            href="${back}"
            >Back</a
          >`
        : ''
    }
  </section>`;
  return layout({ title }, content);
}

/** The texts of a form. */
export type Form = Record<string, string>;

type Submission = {
  /** Performs what the form asks for; returns the address of the next page. Throws where the card is refused. */
  work: (form: Form) => string;
  /** The page of the form, with an error message. */
  page: (message: string) => Html;
};

/** The response to a form. The bank's page comes before the work that a card allows only after authentication. */
export async function submit(c: Context, { work, page }: Submission): Promise<Response> {
  const form = (await c.req.parseBody()) as Form;
  if (form['authentication'] === 'fail') return c.html(page(authenticationProblem), 402);
  try {
    return c.redirect(work(form), 303);
  } catch (error) {
    if (!(error instanceof StripeError)) throw error;
    const isWaiting = error.details.code === actionRequired;
    return isWaiting
      ? c.html(authenticationPage(form))
      : c.html(page(error.message), error.status as 402);
  }
}

const authenticationProblem =
  'We are unable to authenticate your payment method. Please choose a different payment method and try again.';

/** The authentication page of the card's bank, which sends the form again. */
function authenticationPage(form: Form): Html {
  const content = html`<section class="card stack">
    <h1>Authentication needed</h1>
    <p class="soft">The bank that issued this card asks the cardholder to confirm the payment.</p>
    ${authenticationForm(form)}
  </section>`;
  return layout({ title: 'Authentication' }, content);
}

export function authenticationForm(fields: Form = {}): Html {
  return html`<form
    method="post"
    class="stack"
  >
    ${Object.entries(fields).map(
      ([name, value]) =>
        html`<input
          type="hidden"
          name="${name}"
          value="${value}"
        />`,
    )}
    <button
      class="primary"
      name="authentication"
      value="complete"
    >
      Complete authentication
    </button>
    <button
      name="authentication"
      value="fail"
    >
      Fail authentication
    </button>
  </form>`;
}

/** A choice of test cards, by default the working one. */
export function cardChoice(): Html {
  const shown = testCards.filter(({ note }) => note !== undefined);
  return html`<fieldset>
    <legend>Card</legend>
    ${shown.map(
      ({ number, note }, index) =>
        html`<label class="choice">
          <input
            type="radio"
            name="card"
            value="${number}"
            ${index === 0 ? 'checked' : ''}
          />
          <b>${number.replaceAll(/(\d{4})(?=\d)/g, '$1 ')}</b>
          <span>${note}</span>
        </label>`,
    )}
  </fieldset>`;
}

/** The payment by a form; the default card is one that works. */
export const paymentBy = (form: Form): Payment => ({
  card: findTestCard(form['card'] ?? '') ?? testCards[0],
  isAuthenticated: form['authentication'] === 'complete',
});

/** $11.99 from 1199. */
