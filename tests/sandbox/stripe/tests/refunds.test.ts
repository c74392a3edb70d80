import { expect, test } from 'vitest';
import { day, newPerson, phone } from './local-stripe.ts';

async function payer(card = '4242424242424242') {
  const me = await newPerson();
  await me.subscribe('basic', { card });
  const invoice = await me.invoice();
  const refund = (amount: number) =>
    me.stripe.creditNotes.create({ invoice: invoice.id, amount, refund_amount: amount });
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
  expect(note.refunds[0]!.refund).toMatchObject({ amount: 771, status: 'pending' });
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
  expect(await me.charge()).toMatchObject({ refunded: false, amount_refunded: 0 });
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

test('a response has the date of the clock by which its customer is billed', async () => {
  const me = await newPerson();
  await me.control('POST', '/clock', { advanceSeconds: 3 * day, phone });
  const { lastResponse } = await me.stripe.subscriptions.list({ customer: me.customer });
  const ahead = Date.parse(lastResponse.headers['date']!) - Date.now();
  expect(Math.round(ahead / 1000 / day)).toBe(3);
});
