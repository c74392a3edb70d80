import { Hono } from 'hono';
import { html } from 'hono/html';
import { authenticateInvoice, awaitsAuthentication } from '../invoices/collect-invoice.ts';
import { formatMoney, authenticationForm, type Html, layout } from './layout.ts';
import type { Atomically, World } from '../world.ts';
import type { Invoice } from '../objects.ts';

/** Shows an invoice, and lets its payment be authenticated. */
export function invoicePages(world: World, atomically: Atomically): Hono {
  const app = new Hono();
  app.get('/invoice/:id', (c) => c.html(invoicePage(world, world.invoices.get(c.req.param('id')))));
  app.post('/invoice/:id', async (c) => {
    const { authentication } = await c.req.parseBody();
    const invoice = world.invoices.get(c.req.param('id'));
    if (awaitsAuthentication(world, invoice)) {
      const succeeds = authentication === 'complete';
      atomically(invoice.customer, () => authenticateInvoice(world, invoice.id, { succeeds }));
    }
    return c.redirect(c.req.path, 303);
  });
  return app;
}

function invoicePage(world: World, invoice: Invoice): Html {
  const { amount_due: amount, currency, lines, number, status } = invoice;
  const waiting = html`<section class="card stack">
    <p class="notice bad">The bank asks you to confirm this payment.</p>
    ${authenticationForm()}
  </section>`;
  const content = html`<section class="card stack">
      <p class="soft">Invoice ${number}</p>
      <h1>${formatMoney(amount, currency)}</h1>
      <p>${status === 'paid' ? 'Paid' : status === 'open' ? 'Waiting to be paid' : 'Closed'}</p>
      <dl>
        ${lines.data.map(
          (line) =>
            html`<div>
              <dt>${line.description}</dt>
              <dd>${formatMoney(line.amount, currency)}</dd>
            </div>`,
        )}
      </dl>
    </section>
    ${awaitsAuthentication(world, invoice) ? waiting : ''}`;
  return layout({ title: `Invoice ${number}` }, content);
}
