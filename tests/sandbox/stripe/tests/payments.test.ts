import { expect, test } from 'vitest';
import { newPerson, requestOf, idOf, type Person, phone } from './local-stripe.ts';
import type { Stripe } from 'stripe';

test.each([
  ['pm_card_visa_chargeDeclined', 'card_declined', 'generic_decline', undefined],
  ['pm_card_chargeDeclined', 'card_declined', 'generic_decline', undefined],
  ['pm_card_chargeDeclinedInsufficientFunds', 'card_declined', 'insufficient_funds', undefined],
  ['pm_card_chargeDeclinedExpiredCard', 'expired_card', undefined, 'exp_month'],
  ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc', undefined, 'cvc'],
])('a card that its bank refuses is not saved: %s', async (card, code, decline, param) => {
  const me = await newPerson();
  const { status, body } = await requestOf(me)('POST', `/v1/payment_methods/${card}/attach`, `customer=${me.customer}`);
  expect(status).toBe(402);
  expect([body.error.type, body.error.code, body.error.decline_code, body.error.param]).toEqual([
    'card_error',
    code,
    decline,
    param,
  ]);
  expect((await me.stripe.customers.listPaymentMethods(me.customer)).data).toEqual([]);
  const customer = await requestOf(me)('POST', '/v1/customers', `payment_method=${card}&email=refused@example.test`);
  expect(customer.status).toBe(402);
  expect((await me.stripe.customers.list({ email: 'refused@example.test' })).data).toEqual([]);
});

test('a card belongs to one customer, and cannot be used after it was detached', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const other = await me.stripe.customers.create();
  const { id } = await me.stripe.paymentMethods.attach('pm_card_visa', { customer: me.customer });
  const again = await request('POST', `/v1/payment_methods/${id}/attach`, `customer=${me.customer}`);
  expect(again.status).toBe(200);
  const stolen = await request('POST', `/v1/payment_methods/${id}/attach`, `customer=${other.id}`);
  expect([stolen.status, stolen.body.error.code, stolen.body.error.param]).toEqual([400, undefined, undefined]);
  await me.stripe.paymentMethods.detach(id);
  const [event] = (await me.stripe.events.list({ type: 'payment_method.detached', limit: 1 })).data;
  expect(event?.data).toMatchObject({ object: { id, customer: null }, previous_attributes: { customer: me.customer } });
  await expect(me.stripe.paymentMethods.detach(id)).rejects.toThrow('not attached to a customer');
  await expect(me.stripe.paymentMethods.attach(id, { customer: me.customer })).rejects.toThrow('may not be used again');
  const missing = await request('POST', `/v1/payment_methods/${id}/attach`);
  expect(missing.body.error).toMatchObject({ code: 'parameter_missing' });
});

test('a default card must be attached to its customer', async () => {
  const me = await newPerson();
  const other = await me.stripe.customers.create();
  const { id } = await me.stripe.paymentMethods.attach('pm_card_visa', { customer: other.id });
  const items = [{ price: me.catalogue.prices.basic }];
  await expect(
    me.stripe.subscriptions.create({ customer: me.customer, items, default_payment_method: id }),
  ).rejects.toMatchObject({ code: 'resource_missing', param: 'default_payment_method' });
  await expect(
    me.stripe.customers.update(me.customer, { invoice_settings: { default_payment_method: id } }),
  ).rejects.toMatchObject({ param: 'invoice_settings[default_payment_method]' });
});

test('a declined payment intent responds 402 with the intent, which requires another card', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const card = 'pm_card_chargeDeclinedInsufficientFunds';
  const create = (form: string) => request('POST', '/v1/payment_intents', `amount=1000&currency=usd&${form}`);
  const { body: intent } = await create(`payment_method=${card}`);
  expect(intent.status).toBe('requires_confirmation');
  const { status, body } = await request('POST', `/v1/payment_intents/${intent.id}/confirm`);
  expect([status, body.error.decline_code]).toEqual([402, 'insufficient_funds']);
  expect(body.error.payment_intent).toMatchObject({ id: intent.id, status: 'requires_payment_method' });
  const [charge] = (await me.stripe.charges.list({ payment_intent: intent.id })).data;
  expect(charge).toMatchObject({ id: body.error.charge, status: 'failed' });
  const paid = await request('POST', `/v1/payment_intents/${intent.id}/confirm`, 'payment_method=pm_card_visa');
  expect(paid.body).toMatchObject({ status: 'succeeded', amount_received: 1000 });
  const off = await create('payment_method=pm_card_authenticationRequired&confirm=true&off_session=true');
  expect([off.status, off.body.error.code]).toEqual([402, 'authentication_required']);
});

test('an intent to save a card', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const { body: made } = await request('POST', '/v1/setup_intents', `customer=${me.customer}&usage=on_session`);
  expect(made).toMatchObject({ status: 'requires_payment_method', usage: 'off_session', latest_attempt: null });
  const missing = await request('POST', `/v1/setup_intents/${made.id}/confirm`);
  expect(missing.body.error).toMatchObject({ code: 'setup_intent_unexpected_state', setup_intent: { id: made.id } });
  const path = `/v1/setup_intents/${made.id}/confirm`;
  const declined = await request('POST', path, 'payment_method=pm_card_chargeDeclined');
  expect([declined.status, declined.body.error.setup_intent.status]).toEqual([402, 'requires_payment_method']);
  const { body: card } = await request('POST', '/v1/payment_methods', 'type=card&card[token]=tok_visa');
  const done = await request('POST', path, `payment_method=${card.id}`);
  const latest_attempt = expect.stringMatching(/^setatt_/);
  expect(done.body).toMatchObject({ status: 'succeeded', payment_method: card.id, latest_attempt });
  expect((await me.stripe.paymentMethods.retrieve(card.id)).customer).toBe(me.customer);
});

async function lastCharge({ stripe, customer }: Person): Promise<Stripe.Charge> {
  const { data } = await stripe.charges.list({ customer, limit: 1 });
  return data[0] as Stripe.Charge;
}

test('a paid invoice leads to its charge, and the charge to its customer', async () => {
  const me = await newPerson();
  const { latest_invoice: invoice } = await me.subscribe('basic');
  const listed = { invoice: idOf(invoice), expand: ['data.payment.payment_intent'] };
  const { data } = await me.stripe.invoicePayments.list(listed);
  const intent = data[0]?.payment.payment_intent as Stripe.PaymentIntent;
  expect(intent).toMatchObject({ status: 'succeeded', amount_received: 1199, setup_future_usage: 'off_session' });
  const expand = ['data.customer', 'data.refunds'];
  const [charge] = (await me.stripe.charges.list({ payment_intent: intent.id, expand })).data;
  const paid = { id: intent.latest_charge, paid: true, amount: 1199 };
  expect(charge).toMatchObject({ ...paid, customer: { id: me.customer }, refunds: { data: [] } });
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
  const { id, payment_intent } = charge;
  const named = { object: 'dispute', charge: id, amount: 1199, payment_intent };
  expect(dispute).toMatchObject({ ...named, status: 'needs_response', reason: 'fraudulent' });
  expect(dispute).not.toHaveProperty('customer');
  expect((await me.stripe.disputes.list({ charge: charge.id })).data[0]?.id).toBe(dispute['id']);
  expect((await lastCharge(me)).disputed).toBe(true);
  await expect(me.stripe.refunds.create({ charge: charge.id })).rejects.toMatchObject({ code: 'charge_disputed' });
  await me.advance(0);
  expect(me.receivedTypes()).toContain('charge.dispute.created');
  expect((await me.current()).status).toBe('active');
});

test('a test card disputes its own payment', async () => {
  const me = await newPerson();
  const { id: method } = await me.stripe.paymentMethods.attach('pm_card_createDispute', { customer: me.customer });
  const items = [{ price: me.catalogue.prices.basic }];
  await me.stripe.subscriptions.create({ customer: me.customer, items, default_payment_method: method });
  const intent = idOf((await lastCharge(me)).payment_intent);
  expect((await me.stripe.disputes.list({ payment_intent: intent })).data).toHaveLength(1);
});
