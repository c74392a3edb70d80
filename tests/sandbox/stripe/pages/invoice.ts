import { Hono } from 'hono';
import { html } from 'hono/html';
import type { Atomically } from '../api/index.ts';
import { collectInvoice } from '../billing/collect-invoice.ts';
import { longDate } from '../interval.ts';
import { formatMoney } from '../money.ts';
import type { Invoice } from '../objects/invoices.ts';
import { attach, newPaymentMethod } from '../objects/payment-methods.ts';
import type { World } from '../world.ts';
import { cardChoice, chosenCard } from './card-choice.ts';
import { type Html, layout, problem } from './layout.ts';

/** An invoice to read, and to pay while it is open. */
export function invoicePages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/invoice/:id', (c) => c.html(invoicePage(world, world.invoices.get(c.req.param('id')))));
  app.post('/invoice/:id', async (c) => {
    const card = chosenCard(await c.req.parseBody());
    const invoice = world.invoices.get(c.req.param('id'));
    if (invoice.status !== 'open') return c.redirect(c.req.path, 303);
    const outcome = card.refused ? { message: 'Your card was declined.' } : atomically(() => pay(world, invoice));
    if (!outcome) return c.redirect(c.req.path, 303);
    return c.html(invoicePage(world, world.invoices.get(invoice.id), outcome.message), 402);

    function pay(world: World, { id, customer }: Invoice) {
      const method = newPaymentMethod(world, card);
      attach(world, method.id, customer);
      return collectInvoice(world, id, method.id);
    }
  });
  return app;
}

function invoicePage(world: World, invoice: Invoice, message?: string): Html {
  const amount = formatMoney(invoice.amount_due, invoice.currency);
  const form = html`<section class="card">
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
    ${invoice.status === 'open' ? form : ''}
  </div>`;
  return layout(world, `Invoice ${invoice.number}`, content);
}
