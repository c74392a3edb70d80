import { expect, test } from 'vitest';
import { day, newPerson, phone } from './local-stripe.ts';

async function payer(card = '4242424242424242') {
  const me = await newPerson();
  await me.subscribe('basic', { card });
  const invoice = await me.invoice();
  const refund = (amount: number) =>
    me.stripe.creditNotes.create({
      invoice: invoice.id,
      amount,
      refund_amount: amount,
    });
  const charge = async () => (await me.stripe.charges.list({ customer: me.customer })).data[0]!;
  return { ...me, invoiceId: invoice.id, refund, charge };
}

test('a refund and its failure are entered in the balance, and the fee is not returned', async () => {
  const me = await payer('4000000000005126');
  await me.refund(1000);
  await me.advance(2 * day);
  const { data } = await me.stripe.balanceTransactions.list();
  expect(data.map(({ type, amount, net }) => [type, amount, net])).toEqual([
    ['refund_failure', 1000, 1000],
    ['refund', -1000, -1000],
    ['charge', 1199, 1134],
  ]);
});

test('a credit note tells its refund, and the events of both arrive', async () => {
  const me = await payer('4000000000007726');
  const { id } = await me.refund(771);
  const note = await me.stripe.creditNotes.retrieve(id, { expand: ['refunds.refund'] });
  expect(note.refunds[0]!.refund).toMatchObject({
    amount: 771,
    status: 'pending',
  });
  await me.advance(2 * day);
  expect(me.receivedTypes()).toEqual(
    expect.arrayContaining([
      'refund.created',
      'charge.refunded',
      'credit_note.created',
      'refund.updated',
    ]),
  );
});

test('a refund that the bank sends back frees its amount again, once', async () => {
  const me = await payer('4000000000005126');
  await me.refund(1199);
  expect(await me.charge()).toMatchObject({ refunded: true });
  await me.advance(3 * day);
  expect(await me.charge()).toMatchObject({
    refunded: false,
    amount_refunded: 0,
  });
  const failures = me.receivedTypes().filter((type) => type === 'refund.failed');
  expect(failures).toHaveLength(1);
});

test('a payment method may refuse refunds, and may ask for bank details', async () => {
  const me = await payer();
  await me.control('PUT', `/customers/${phone}/refunds`, { outcome: 'refused' });
  await expect(me.refund(1)).rejects.toMatchObject({ code: 'charge_not_refundable' });
  await me.control('PUT', `/customers/${phone}/refunds`, { outcome: 'asks' });
  await me.refund(1);
  const [refund] = (await me.stripe.refunds.list()).data;
  expect(refund).toMatchObject({ status: 'requires_action' });
  await me.stripe.refunds.cancel(refund!.id);
  expect(await me.charge()).toMatchObject({ amount_refunded: 0 });
});

test('amounts are those that banks can pay, and no charge is below the least of its currency', async () => {
  const me = await newPerson();
  const { stripe, customer } = me;
  const { id: product } = await stripe.products.create({ name: 'Abroad' });
  const priceOf = (currency: string, unit_amount: number) =>
    stripe.prices.create({
      product,
      currency,
      unit_amount,
      recurring: { interval: 'week' },
    });
  await expect(priceOf('kwd', 5125)).rejects.toMatchObject({ param: 'unit_amount' });
  await expect(priceOf('isk', 90_050)).rejects.toMatchObject({ param: 'unit_amount' });

  const { id: price } = await priceOf('kwd', 5120);
  await me.saveCard('pm_card_visa');
  const { latest_invoice: invoice } = await stripe.subscriptions.create({
    customer,
    items: [{ price }],
  });
  const refund = (amount: number) =>
    stripe.creditNotes.create({
      invoice: invoice as string,
      amount,
      refund_amount: amount,
    });
  await expect(refund(1235)).rejects.toMatchObject({ param: 'amount' });
  expect(await refund(1230)).toMatchObject({ total: 1230 });

  const { id: small } = await priceOf('kwd', 150);
  const { latest_invoice: owed } = await stripe.subscriptions.create({
    customer,
    items: [{ price: small }],
  });
  expect(await stripe.invoices.retrieve(owed as string)).toMatchObject({
    status: 'paid',
    amount_due: 0,
    ending_balance: 150,
  });
});

test('a response has the date of the clock by which its customer is billed', async () => {
  const me = await newPerson();
  await me.control('POST', '/clock', { advanceSeconds: 3 * day, phone });
  const { lastResponse } = await me.stripe.subscriptions.list({ customer: me.customer });
  const ahead = Date.parse(lastResponse.headers['date']!) - Date.now();
  expect(Math.round(ahead / 1000 / day)).toBe(3);
});
