import type { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { idOf, newPerson, priceOf, requestOf, week } from './local-stripe.ts';

test('a call for an ended subscription is refused, with a message and no code', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const paid = `/v1/invoices/${idOf((await me.subscribe('basic')).latest_invoice)}`;
  const refusals: [string, string, string, string | undefined][] = [
    [`${paid}/void`, '', 'Invoices with `paid` payments cannot be voided.', undefined],
    [`${paid}/pay`, '', 'Invoice is already paid', undefined],
    [`${paid}/finalize`, '', "can't re-finalize a non-draft invoice", undefined],
    [paid, 'description=late', "Finalized invoices can't be updated in this way", 'description'],
  ];
  for (const [path, form, message, param] of refusals) {
    const { status, body } = await request('POST', path, form);
    expect([path, status, body.error.code, body.error.param]).toEqual([path, 400, undefined, param]);
    expect(body.error.message).toContain(message);
  }
  expect((await request('POST', paid, 'metadata[a]=b')).body.metadata).toEqual({ a: 'b' });
});

test('a draft by the API is finalized after an hour, or never', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const { body: draft } = await request('POST', '/v1/invoices', `customer=${me.customer}&auto_advance=true`);
  const fresh = { status: 'draft', billing_reason: 'manual', number: null, parent: null, attempt_count: 0 };
  expect(draft).toMatchObject(fresh);
  expect(draft.automatically_finalizes_at - draft.created).toBe(3600);
  const kept = await request('POST', `/v1/invoices/${draft.id}`, 'auto_advance=false');
  expect(kept.body).toMatchObject({ automatically_finalizes_at: null, next_payment_attempt: null });
  const { body: other } = await request('POST', '/v1/invoices', `customer=${me.customer}`);
  expect(other.auto_advance).toBe(false);
  const number = expect.stringMatching(/-0001$/);
  const { body } = await request('POST', `/v1/invoices/${other.id}/finalize`);
  expect(body).toMatchObject({ status: 'paid', attempt_count: 0, number });
});

test('the lines of a change name what they credit, are rounded separately and get no discount', async () => {
  const me = await newPerson();
  const before = await me.subscribe('basic');
  const start = before.items.data[0]!.current_period_start;
  const now = await me.advance(week / 3);
  await me.portal('switch', { price: me.catalogue.prices.premium });
  const invoice = await me.invoice();
  const [credit, debit] = invoice.lines.data as [Stripe.InvoiceLineItem, Stripe.InvoiceLineItem];
  const left = (start + week - credit.period.start) / week;
  expect([credit.amount, debit.amount]).toEqual([Math.ceil(-1199 * left - 0.5), Math.ceil(2999 * left - 0.5)]);
  expect([credit.discountable, debit.discountable]).toEqual([false, false]);
  const credited = { credited_items: { invoice: idOf(before.latest_invoice) } };
  const details = [credit, debit].map(({ parent }) => parent?.subscription_item_details);
  expect(details).toMatchObject([
    { proration_details: credited, invoice_item: expect.stringMatching(/^ii_/) },
    { proration_details: { credited_items: null } },
  ]);
  expect(invoice.period_start).toBe(start);
  expect(invoice.period_end).toBeGreaterThanOrEqual(now);
});

test('less than 50 cents is added to the balance instead of charged', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  await me.advance(week - 600);
  await me.portal('switch', { price: me.catalogue.prices.premium });
  const { total, ...invoice } = await me.invoice();
  expect(total).toBeGreaterThan(0);
  const credited = { status: 'paid', amount_due: 0, attempt_count: 0, attempted: true, ending_balance: total };
  expect(invoice).toMatchObject(credited);
  expect(await me.stripe.customers.retrieve(me.customer)).toMatchObject({ balance: total });
});

test('a change whose charge fails is kept, and its invoice stays open', async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('basic');
  await me.setCard(true);
  const wanted = [{ id: items.data[0]!.id, price: me.catalogue.prices.premium }];
  const changed = await me.stripe.subscriptions.update(id, { items: wanted, proration_behavior: 'always_invoice' });
  expect([changed.status, priceOf(changed)]).toEqual(['past_due', me.catalogue.prices.premium]);
  await me.setCard(false);
  await me.stripe.invoices.pay(idOf(changed.latest_invoice));
  expect(await me.status()).toBe('active');
});

test('the first invoice decides about an incomplete subscription', async () => {
  const me = await newPerson();
  const { id } = await me.stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer: me.customer });
  const items = [{ price: me.catalogue.prices.basic }];
  const order = { customer: me.customer, items, default_payment_method: id };
  const voided = await me.stripe.subscriptions.create(order);
  await me.stripe.invoices.voidInvoice(idOf(voided.latest_invoice));
  expect(await me.status()).toBe('incomplete_expired');
  const paid = await me.stripe.subscriptions.create(order);
  await expect(me.stripe.subscriptions.update(paid.id, { items })).rejects.toThrow('`incomplete` status');
  const { id: good } = await me.stripe.paymentMethods.attach('pm_card_visa', { customer: me.customer });
  await me.stripe.invoices.pay(idOf(paid.latest_invoice), { payment_method: good });
  expect(await me.status()).toBe('active');
});
