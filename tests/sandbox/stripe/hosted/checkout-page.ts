import { Hono } from 'hono';
import { html } from 'hono/html';
import { completeCheckout, lineItemsOf } from './checkout-sessions.ts';
import { StripeError } from '../api/errors.ts';
import { longDate } from '../clock.ts';
import {
  formatMoney,
  authenticationOf,
  authenticationPage,
  authenticationProblem,
  cardChoice,
  chosenCard,
  closedPage,
  type Html,
  layout,
  problem,
  wordsIn,
} from './layout.ts';
import type { Atomically, World } from '../world.ts';
import type { CheckoutSession } from '../objects.ts';

/** GET shows a checkout and POST completes it; a second POST only redirects. */
export function checkoutPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/checkout/:id', (c) => c.html(checkoutPage(world, world.checkoutSessions.get(c.req.param('id')))));
  app.post('/checkout/:id', async (c) => {
    const form = await c.req.parseBody();
    const session = world.checkoutSessions.get(c.req.param('id'));
    if (session.status === 'complete') return c.redirect(successUrl(session), 303);
    if (session.status !== 'open') return c.html(checkoutPage(world, session), 410);
    const card = chosenCard(form);
    const authentication = authenticationOf(form, card);
    if (authentication === 'missing') {
      return c.html(authenticationPage(world, { action: c.req.path, fields: { card: card.number } }));
    }
    const attempt = { message: authenticationProblem, card: card.number };
    if (authentication === 'failed') return c.html(checkoutPage(world, session, attempt), 402);
    try {
      const payment = { card, isAuthenticated: true };
      return c.redirect(
        successUrl(atomically(session.customer ?? '', () => completeCheckout(world, session.id, payment))),
        303,
      );
    } catch (error) {
      if (!(error instanceof StripeError)) throw error;
      return c.html(checkoutPage(world, session, { ...attempt, message: error.message }), 402);
    }
  });
  app.get('/checkout/:id/back', (c) => c.redirect(`/checkout/${c.req.param('id')}`, 303));
  app.post('/checkout/:id/back', (c) => {
    const { cancel_url: url, id } = world.checkoutSessions.get(c.req.param('id'));
    return c.redirect(url ?? `/checkout/${id}`, 303);
  });
  return app;
}

function successUrl({ id, success_url: url }: CheckoutSession): string {
  return url.replaceAll('{CHECKOUT_SESSION_ID}', id);
}

type Attempt = { message?: string; card?: string };

function checkoutPage(world: World, session: CheckoutSession, attempt: Attempt = {}): Html {
  const back = session.cancel_url;
  if (session.status === 'expired') {
    const text = 'This page has timed out and nothing was charged. Go back to start again.';
    return closedPage(world, { title: 'This checkout has expired', text, back });
  }
  if (session.status === 'complete') {
    const text = 'Everything is in place. There is nothing left to do here.';
    return closedPage(world, { title: 'You are all done here', text, back: successUrl(session) });
  }
  return session.mode === 'setup' ? setupPage(world, session, attempt) : subscribePage(world, session, attempt);
}

function subscribePage(world: World, session: CheckoutSession, attempt: Attempt): Html {
  const { data } = lineItemsOf(world, session);
  const name = data.map(({ description }) => description).join(', ');
  const price = formatMoney(
    data.reduce((sum, item) => sum + item.amount_total, 0),
    session.currency ?? 'usd',
  );
  const interval = data[0]?.price.recurring?.interval ?? 'week';
  const dueToday = formatMoney(session.amount_total ?? 0, session.currency ?? 'usd');
  const { locale } = session;
  const words = wordsIn(locale);
  const summary = html`<section class="stack">
    <p class="soft">${words.subscribeTo}</p>
    <h1>${name}</h1>
    <p class="price">${price} <small>/ ${interval === 'week' ? words.week : interval}</small></p>
    <dl>
      ${customerRow(world, session)} ${trialRow(session)}
      <div class="total">
        <dt>${words.dueToday}</dt>
        <dd>${dueToday}</dd>
      </div>
    </dl>
    <p class="soft">${interval === 'week' ? words.renews : ''}</p>
  </section>`;
  return layout(
    world,
    { title: words.checkout, locale },
    html`<div class="columns">${summary}${payForm(session, 'Subscribe', attempt)}</div>`,
  );
}

/** Saves a card for a plan that begins later; the session's metadata names the plan, as the metadata of prices does. */
function setupPage(world: World, session: CheckoutSession, attempt: Attempt): Html {
  const price = world.prices.all().find(({ active, metadata }) => active && metadata.tier === session.metadata?.tier);
  const plan = price && world.products.get(price.product).name;
  const { locale } = session;
  const words = wordsIn(locale);
  const cost = price
    ? html`<p class="price">${formatMoney(price.unit_amount, price.currency)} <small>/ ${words.week}</small></p>`
    : '';
  const summary = html`<section class="stack">
    <p class="soft">${words.nothingToday}</p>
    <h1>${plan ?? words.saveCard}</h1>
    ${cost}
    <p class="soft">${words.later(world.settings.businessName)}</p>
    <dl>${customerRow(world, session)}</dl>
  </section>`;
  return layout(
    world,
    { title: words.saveCard, locale },
    html`<div class="columns">${summary}${payForm(session, 'Subscribe', attempt)}</div>`,
  );
}

function payForm(session: CheckoutSession, label: string, { message, card }: Attempt): Html {
  const back = session.cancel_url ? html`<button formaction="/checkout/${session.id}/back">Back</button>` : '';
  return html`<section class="card" lang="en">
    <form method="post" class="stack">
      ${problem(message)} ${cardChoice(card)}
      <button class="primary">${label}</button>
      ${back}
    </form>
  </section>`;
}

function customerRow(world: World, { customer, customer_email: email, locale }: CheckoutSession): Html | string {
  const found = customer ? world.customers.find(customer) : undefined;
  const who = found?.email ?? found?.phone ?? found?._.phone ?? email;
  return who
    ? html`<div>
        <dt>${wordsIn(locale).customer}</dt>
        <dd>${who}</dd>
      </div>`
    : '';
}

function trialRow({ _: { subscriptionData: data }, created, locale }: CheckoutSession): Html | string {
  const days = data.trial_period_days;
  const end = data.trial_end ?? (days === undefined ? undefined : created + days * 86_400);
  return end === undefined
    ? ''
    : html`<div>
        <dt>${wordsIn(locale).freeUntil}</dt>
        <dd>${longDate(end)}</dd>
      </div>`;
}
