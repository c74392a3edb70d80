import { Hono } from 'hono';
import { html } from 'hono/html';
import { attach, newPaymentMethod, type TestCard } from '../payments/payment-methods.ts';
import { authenticateInvoice, awaitsAuthentication, collectInvoice } from '../invoices/collect-invoice.ts';
import { longDate } from '../clock.ts';
import {
  formatMoney,
  authenticationForm,
  authenticationOf,
  authenticationPage,
  authenticationProblem,
  cardChoice,
  chosenCard,
  type Html,
  layout,
  problem,
} from './layout.ts';
import type { Atomically, World } from '../world.ts';
import type { Invoice } from '../objects.ts';

/** Shows an invoice, and lets it be paid while it is open. */
export function invoicePages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/invoice/:id', (c) => c.html(invoicePage(world, world.invoices.get(c.req.param('id')))));
  app.post('/invoice/:id', async (c) => {
    const form = await c.req.parseBody();
    const card = chosenCard(form);
    const invoice = world.invoices.get(c.req.param('id'));
    if (invoice.status !== 'open') return c.redirect(c.req.path, 303);
    if (form['card'] !== undefined && authenticationOf(form, card) === 'missing') {
      return c.html(authenticationPage(world, { action: c.req.path, fields: { card: card.number } }));
    }
    const message = atomically(invoice.customer, () => settle(world, invoice, form));
    if (!message) return c.redirect(c.req.path, 303);
    return c.html(invoicePage(world, world.invoices.get(invoice.id), message), 402);
  });
  return app;
}

/** Pays with the form's card, or completes the invoice's authentication. Returns the error message, if any. */
function settle(world: World, invoice: Invoice, form: Record<string, unknown>): string | undefined {
  const hasFailed = form['authentication'] === 'fail';
  if (form['card'] === undefined && form['authentication'] !== undefined) {
    if (awaitsAuthentication(world, invoice)) authenticateInvoice(world, invoice.id, { succeeds: !hasFailed });
    return hasFailed ? authenticationProblem : undefined;
  }
  return hasFailed ? authenticationProblem : payWith(world, invoice, chosenCard(form));
}

function payWith(world: World, { id, customer }: Invoice, card: TestCard): string | undefined {
  if (card.refused) return card.refused.message;
  const method = newPaymentMethod(world, card);
  attach(world, method.id, customer);
  const outcome = collectInvoice(world, id, { method: method.id, isAuthenticated: true });
  return outcome.kind === 'declined' ? outcome.decline.message : undefined;
}

function invoicePage(world: World, invoice: Invoice, message?: string): Html {
  const amount = formatMoney(invoice.amount_due, invoice.currency);
  const waiting = awaitsAuthentication(world, invoice)
    ? html`<section class="card stack">
        <p class="notice bad">The bank asks you to confirm this payment.</p>
        ${authenticationForm({ action: `/invoice/${invoice.id}` })}
      </section>`
    : '';
  const form = html`${waiting}
    <section class="card">
      <form method="post" class="stack">
        ${problem(message)} ${cardChoice()}
        <button class="primary">Pay ${amount}</button>
      </form>
    </section>`;
  const content = html`<div class="columns">
    <section class="card stack">
      <p class="soft">Invoice ${invoice.number} · ${longDate(invoice.created)}</p>
      <h1>${amount}</h1>
      <p>${invoice.status === 'paid' ? 'Paid' : invoice.status === 'open' ? 'Waiting to be paid' : 'Closed'}</p>
      <table>
        <tbody>
          ${invoice.lines.data.map(
            (line) =>
              html`<tr>
                <td>${line.description}</td>
                <td>${formatMoney(line.amount, invoice.currency)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </section>
    ${invoice.status === 'open' ? html`<div class="rows">${form}</div>` : ''}
  </div>`;
  return layout(world, { title: `Invoice ${invoice.number}` }, content);
}
