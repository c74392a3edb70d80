import { html } from 'hono/html';
import type { World } from '../world.ts';
import { type TestCard, findTestCard, testCards } from '../payments/payment-methods.ts';

export type Html = ReturnType<typeof html>;

const english = {
  testMode: 'Test mode',
  checkout: 'Checkout',
  subscribeTo: 'Subscribe to',
  dueToday: 'Due today',
  customer: 'Customer',
  freeUntil: 'Free until',
  renews: 'Renews every week until you cancel.',
  week: 'week',
  nothingToday: 'Nothing is charged today',
  saveCard: 'Save a card',
  later: (business: string) => `${business} will use the card for what you choose to pay for later.`,
  subscription: 'Your subscription',
};
const words: Record<string, typeof english> = {
  es: {
    testMode: 'Modo de prueba',
    checkout: 'Pago',
    subscribeTo: 'Suscríbete a',
    dueToday: 'Hoy pagas',
    customer: 'Cliente',
    freeUntil: 'Gratis hasta el',
    renews: 'Se renueva cada semana hasta que canceles.',
    week: 'semana',
    nothingToday: 'Hoy no se cobra nada',
    saveCard: 'Guarda una tarjeta',
    later: (business) => `${business} usará la tarjeta para lo que decidas pagar más adelante.`,
    subscription: 'Tu suscripción',
  },
  pt: {
    testMode: 'Modo de teste',
    checkout: 'Pagamento',
    subscribeTo: 'Assine o',
    dueToday: 'Total de hoje',
    customer: 'Cliente',
    freeUntil: 'Grátis até',
    renews: 'Renova toda semana até você cancelar.',
    week: 'semana',
    nothingToday: 'Nada será cobrado hoje',
    saveCard: 'Salve um cartão',
    later: (business) => `${business} usará o cartão para o que você decidir pagar depois.`,
    subscription: 'Sua assinatura',
  },
};

/**
 * What a page says in the language of its session. The names of forms and buttons are English in every language, so
 * that programs find them.
 */
export function wordsIn(locale: string | null): typeof english {
  return words[locale?.slice(0, 2) ?? ''] ?? english;
}

type Head = { title: string; locale?: string | null };

/** The layout of every hosted page. */
export function layout(world: World, { title, locale = null }: Head, content: Html): Html {
  const { businessName: name } = world.settings;
  const { testMode } = wordsIn(locale);
  return html`<!doctype html>
    <html lang="${locale === null || locale === 'auto' ? 'en' : locale}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <title>${title} · ${name}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/stripe/pages.css" />
      </head>
      <body>
        <main>
          <header>
            <p class="merchant"><i aria-hidden="true">${name.slice(0, 1)}</i>${name}</p>
            <span class="badge">${testMode}</span>
          </header>
          ${content}
        </main>
      </body>
    </html>`;
}

/** An error message, which screen readers announce at once. */
export function problem(message: string | undefined): Html | string {
  return message ? html`<p class="notice bad" role="alert">${message}</p>` : '';
}

/** A page of a closed session, with a link back. */
export function closedPage(
  world: World,
  { title, text, back }: { title: string; text: string; back: string | null },
): Html {
  const content = html`<section class="card stack">
    <h1>${title}</h1>
    <p class="soft">${text}</p>
    ${back ? html`<a class="button primary" href="${back}">Back</a>` : ''}
  </section>`;
  return layout(world, { title }, content);
}

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
  return layout(world, { title: 'Authentication' }, content);
}

export function authenticationForm({ action, fields = {} }: Step): Html {
  return html`<form method="post" action="${action}" class="stack">
    ${Object.entries(fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <button class="primary" name="authentication" value="complete">Complete authentication</button>
    <button name="authentication" value="fail">Fail authentication</button>
  </form>`;
}

type Choice = { value: string; title: string; note: string };

const cardChoices = testCards.flatMap(({ number, note }): Choice[] =>
  note === undefined ? [] : [{ value: number, title: number.replaceAll(/(\d{4})(?=\d)/g, '$1 '), note }],
);

/** A choice of test cards, by default the working one. */
export function cardChoice(chosen: string = testCards[0].number): Html {
  return html`<fieldset>
    <legend>Card</legend>
    ${cardChoices.map(
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

/** $11.99 from 1199. */
export function formatMoney(cents: number, currency: string): string {
  return new Intl.NumberFormat('en-US', { style: 'currency', currency: currency.toUpperCase() }).format(cents / 100);
}
