import { Hono } from 'hono';
import { html } from 'hono/html';
import { productName } from '../invoices/lines.ts';
import { completeCheckout } from './checkout-sessions.ts';
import {
  formatMoney,
  cardChoice,
  chosenCard,
  closedPage,
  type Html,
  isAuthenticated,
  layout,
  problem,
  submit,
} from './layout.ts';
import { type Atomically, businessName, type World } from '../world.ts';
import type { CheckoutSession } from '../objects.ts';

/** GET shows a checkout and POST completes it; a second POST only redirects. */
export function checkoutPages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/checkout/:id', (c) => c.html(checkoutPage(world, world.checkoutSessions.get(c.req.param('id')))));
  app.post('/checkout/:id', (c) => {
    const { id, customer } = world.checkoutSessions.get(c.req.param('id'));
    return submit(c, {
      work(form) {
        const payment = { card: chosenCard(form), isAuthenticated: isAuthenticated(form) };
        return successUrl(atomically(customer ?? '', () => completeCheckout(world, id, payment)));
      },
      page: (message) => checkoutPage(world, world.checkoutSessions.get(id), message),
    });
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

function checkoutPage(world: World, session: CheckoutSession, message?: string): Html {
  if (session.status === 'expired') {
    const text = 'This page has timed out and nothing was charged. Go back to start again.';
    return closedPage({ title: 'This checkout has expired', text, back: session.cancel_url });
  }
  if (session.status === 'complete') {
    const text = 'Everything is in place. There is nothing left to do here.';
    return closedPage({ title: 'You are all done here', text, back: successUrl(session) });
  }
  const { locale } = session;
  const summary = session.mode === 'setup' ? setupSummary(world, session) : purchaseSummary(world, session);
  return layout(
    { title: 'Checkout', locale },
    html`<div class="columns">
      <section class="stack">${summary}</section>
      <section class="card">
        <form method="post" class="stack">
          ${problem(message)} ${cardChoice()}
          <button class="primary">Subscribe</button>
          ${session.cancel_url ? html`<button formaction="/checkout/${session.id}/back">Back</button>` : ''}
        </form>
      </section>
    </div>`,
  );
}

/** The only words in the language of the session: programs find buttons by their English names. */
const subscribeTo: Record<string, string> = { es: 'Suscríbete a', pt: 'Assine o' };

function purchaseSummary(world: World, session: CheckoutSession): Html {
  const { amount_total: total, currency, locale } = session;
  const prices = session._.items.map(({ price }) => world.prices.get(price));
  return html`<p class="soft" lang="${locale ?? 'en'}">${subscribeTo[locale?.slice(0, 2) ?? ''] ?? 'Subscribe to'}</p>
    <h1>${prices.map((price) => productName(world, price)).join(', ')}</h1>
    <p class="price">
      ${formatMoney(total ?? 0, currency ?? 'usd')} <small>/ ${prices[0]?.recurring.interval}</small>
    </p>`;
}

/** A card is saved for a plan that begins later; the metadata of session and prices names the plan. */
function setupSummary(world: World, { metadata }: CheckoutSession): Html {
  const price = world.prices.all().find((each) => each.active && each.metadata.tier === metadata?.tier);
  return html`<p class="soft">Nothing is charged today</p>
    <h1>${price ? world.products.get(price.product).name : 'Save a card'}</h1>
    ${price ? html`<p class="price">${formatMoney(price.unit_amount, price.currency)} <small>/ week</small></p>` : ''}
    <p class="soft">${businessName} will use the card for what you choose to pay for later.</p>`;
}
