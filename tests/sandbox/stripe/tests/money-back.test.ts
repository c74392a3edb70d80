import type { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { idOf, newPerson, type Person, phone } from './subscriber.ts';
import { requestOf } from './request.ts';

async function lastCharge({ stripe, customer }: Person): Promise<Stripe.Charge> {
  const { data } = await stripe.charges.list({ customer, limit: 1 });
  return data[0] as Stripe.Charge;
}

test('a paid invoice leads to its charge, and the charge to its customer', async () => {
  const me = await newPerson();
  const { latest_invoice: invoice } = await me.subscribe('basic');
  const { data } = await me.stripe.invoicePayments.list({
    invoice: idOf(invoice),
    expand: ['data.payment.payment_intent'],
  });
  const intent = data[0]?.payment.payment_intent as Stripe.PaymentIntent;
  expect(intent).toMatchObject({ status: 'succeeded', amount_received: 1199, setup_future_usage: 'off_session' });
  const expand = ['data.customer', 'data.refunds'];
  const [charge] = (await me.stripe.charges.list({ payment_intent: intent.id, expand })).data;
  expect(charge).toMatchObject({
    id: intent.latest_charge,
    paid: true,
    amount: 1199,
    customer: { id: me.customer },
    refunds: { data: [] },
  });
  const payment = { type: 'payment_intent', payment_intent: intent.id } as const;
  expect((await me.stripe.invoicePayments.list({ payment })).data[0]?.invoice).toBe(idOf(invoice));
});

test('refunds in parts, and never more than was paid', async () => {
  const me = await newPerson();
  const { latest_invoice: invoice } = await me.subscribe('basic');
  const { id: charge, payment_intent: intent } = await lastCharge(me);
  const part = await me.stripe.refunds.create({ payment_intent: idOf(intent), amount: 199 });
  expect(part).toMatchObject({ amount: 199, status: 'succeeded', charge, reason: null });
  expect(await lastCharge(me)).toMatchObject({ amount_refunded: 199, refunded: false });
  await expect(me.stripe.refunds.create({ charge, amount: 1001 })).rejects.toMatchObject({
    param: 'amount',
    message: 'Refund amount ($10.01) is greater than unrefunded amount on charge ($10.00)',
  });
  await expect(me.stripe.refunds.create({ charge, amount: 0 })).rejects.toMatchObject({
    code: 'parameter_invalid_integer',
  });
  await me.stripe.refunds.create({ charge, reason: 'requested_by_customer' });
  expect(await lastCharge(me)).toMatchObject({ amount_refunded: 1199, refunded: true });
  await expect(me.stripe.refunds.create({ charge })).rejects.toMatchObject({ code: 'charge_already_refunded' });
  expect((await me.stripe.invoices.retrieve(idOf(invoice))).status).toBe('paid');
  await me.advance(0);
  expect(me.receivedTypes().filter((type) => type === 'charge.refunded')).toHaveLength(2);
});

test('a dispute names the charge and no customer, and forbids a refund', async () => {
  const me = await newPerson();
  expect(await me.control('POST', `/customers/${phone}/dispute`)).toHaveProperty('error');
  await me.subscribe('basic');
  const charge = await lastCharge(me);
  const dispute = await me.control('POST', `/customers/${phone}/dispute`);
  expect(dispute).toMatchObject({
    object: 'dispute',
    charge: charge.id,
    amount: 1199,
    status: 'needs_response',
    reason: 'fraudulent',
    payment_intent: charge.payment_intent,
  });
  expect(dispute).not.toHaveProperty('customer');
  expect((await me.stripe.disputes.list({ charge: charge.id })).data[0]?.id).toBe(dispute['id']);
  expect((await lastCharge(me)).disputed).toBe(true);
  await expect(me.stripe.refunds.create({ charge: charge.id })).rejects.toMatchObject({ code: 'charge_disputed' });
  await me.advance(0);
  expect(me.receivedTypes()).toContain('charge.dispute.created');
  expect((await me.current()).status).toBe('active');
});

test.each([
  ['won', 'charge.dispute.funds_reinstated'],
  ['lost', 'charge.dispute.closed'],
])('a dispute is %s', async (status, event) => {
  const me = await newPerson();
  await me.subscribe('basic');
  const id = String((await me.control('POST', `/customers/${phone}/dispute`))['id']);
  const evidence = { uncategorized_text: status === 'won' ? 'winning_evidence' : 'losing_evidence' };
  await me.stripe.disputes.update(id, { evidence });
  expect((await me.stripe.disputes.retrieve(id)).status).toBe(status);
  await me.advance(0);
  expect(me.receivedTypes()).toEqual(expect.arrayContaining(['charge.dispute.closed', event]));
  await expect(me.stripe.disputes.update(id, { evidence })).rejects.toThrow('already closed');
});

test('a test card disputes its own payment', async () => {
  const me = await newPerson();
  const { id: method } = await me.stripe.paymentMethods.attach('pm_card_createDispute', { customer: me.customer });
  const items = [{ price: me.catalogue.prices.basic }];
  await me.stripe.subscriptions.create({ customer: me.customer, items, default_payment_method: method });
  const { body } = await requestOf(me)(
    'GET',
    '/v1/disputes',
    `payment_intent=${idOf((await lastCharge(me)).payment_intent)}`,
  );
  expect(body.data).toHaveLength(1);
});
