import { expect, test } from 'vitest';
import { phone, idOf, newPerson, type Person, priceOf } from './subscriber.ts';
import { draftHour, week } from './start-stripe.ts';

const once = '4000002500003155';
const always = '4000002760003184';

async function withCard(card: string): Promise<Person> {
  const me = await newPerson();
  const { id } = await me.stripe.paymentMethods.attach(card, { customer: me.customer });
  await me.stripe.customers.update(me.customer, { invoice_settings: { default_payment_method: id } });
  return me;
}

async function subscribeWith(me: Person, card: string): Promise<void> {
  const { url } = await me.checkout('basic');
  await me.press(url ?? '', { card, authentication: 'complete' });
}

test('a first payment that needs authentication leaves the subscription incomplete and is not counted', async () => {
  const me = await withCard('pm_card_authenticationRequired');
  const items = [{ price: me.catalogue.prices.basic }];
  const expand = ['latest_invoice.payments.data.payment.payment_intent'];
  const { status, latest_invoice: invoice } = await me.stripe.subscriptions.create({
    customer: me.customer,
    items,
    expand,
  });
  expect(status).toBe('incomplete');
  expect(invoice).toMatchObject({ status: 'open', attempted: true, attempt_count: 0, next_payment_attempt: null });
  const [payment] = (invoice as { payments?: { data: { payment: unknown }[] } }).payments?.data ?? [];
  expect(payment?.payment).toMatchObject({
    payment_intent: { status: 'requires_action', next_action: { type: 'use_stripe_sdk' } },
  });
  await me.advance(0);
  expect(me.receivedTypes()).toContain('invoice.payment_action_required');
  expect(me.receivedTypes()).not.toContain('invoice.payment_failed');
  await me.control('POST', `/customers/${phone}/authenticate`, { succeeds: true });
  expect((await me.current()).status).toBe('active');
});

test('error_if_incomplete refuses such a payment with 402 and writes nothing', async () => {
  const me = await withCard('pm_card_authenticationRequired');
  const items = [{ price: me.catalogue.prices.basic }];
  const order = { customer: me.customer, items, payment_behavior: 'error_if_incomplete' } as const;
  await expect(me.stripe.subscriptions.create(order)).rejects.toMatchObject({
    statusCode: 402,
    code: 'subscription_payment_intent_requires_action',
  });
  expect((await me.stripe.subscriptions.list({ customer: me.customer, status: 'all' })).data).toEqual([]);
});

test.each([once, always])('checkout asks for authentication, and grants nothing without it: %s', async (card) => {
  const me = await newPerson();
  const { url, id } = await me.checkout('basic');
  const page = await (await me.press(url ?? '', { card })).text();
  for (const label of ['Complete authentication', 'Fail authentication']) expect(page).toContain(`>${label}<`);
  const failed = await me.press(url ?? '', { card, authentication: 'fail' });
  expect(failed.status).toBe(402);
  const form = await failed.text();
  expect(form).toContain('We are unable to authenticate your payment method.');
  expect(form).toContain('>Subscribe<');
  expect((await me.stripe.subscriptions.list({ customer: me.customer, status: 'all' })).data).toEqual([]);
  const done = await me.press(url ?? '', { card, authentication: 'complete' });
  expect(done.headers.get('location')).toContain(id);
  expect((await me.current()).status).toBe('active');
});

test('a card that needs authentication once is charged for renewals', async () => {
  const me = await newPerson();
  await subscribeWith(me, once);
  await me.advance(week + draftHour + 60);
  expect((await me.current()).status).toBe('active');
});

test.each([
  [true, 'active', 'paid'],
  [false, 'past_due', 'open'],
])('a renewal that needs authentication is past due until then: %s', async (succeeds, status, invoiceStatus) => {
  const me = await newPerson();
  await subscribeWith(me, always);
  await me.advance(week + 60);
  expect(await me.control('POST', `/customers/${phone}/authenticate`, { succeeds })).toHaveProperty('error');
  await me.advance(draftHour);
  const waiting = await me.current();
  expect(waiting.status).toBe('past_due');
  expect(me.receivedTypes()).toEqual(
    expect.arrayContaining(['invoice.payment_action_required', 'invoice.payment_failed']),
  );
  const invoice = await me.stripe.invoices.retrieve(idOf(waiting.latest_invoice), { expand: ['payments'] });
  const intent = await me.stripe.paymentIntents.retrieve(idOf(invoice.payments?.data[0]?.payment.payment_intent ?? ''));
  expect([intent.status, invoice.attempt_count]).toEqual(['requires_action', 1]);
  expect(await me.control('POST', `/customers/${phone}/authenticate`, { succeeds })).toMatchObject({
    id: invoice.id,
    status: invoiceStatus,
  });
  expect((await me.current()).status).toBe(status);
});

test('the page of an open invoice completes an authentication, or charges another card', async () => {
  const me = await newPerson();
  await subscribeWith(me, always);
  await me.advance(week + draftHour + 60);
  const { hosted_invoice_url: url } = await me.stripe.invoices.retrieve(idOf((await me.current()).latest_invoice));
  expect(await (await fetch(url ?? '')).text()).toContain('Complete authentication');
  const failed = await me.press(url ?? '', { authentication: 'fail' });
  expect(await failed.text()).toContain('We are unable to authenticate');
  expect(await (await me.press(url ?? '', { card: always })).text()).toContain('Complete authentication');
  await me.press(url ?? '', { card: always, authentication: 'complete' });
  expect((await me.current()).status).toBe('active');
});

test('the portal requires authentication before it saves or charges such a card', async () => {
  const me = await newPerson();
  await subscribeWith(me, always);
  const asked = await me.portal('switch', { price: me.catalogue.prices.premium });
  expect(await asked.text()).toContain('Complete authentication');
  expect(priceOf(await me.current())).toBe(me.catalogue.prices.basic);
  const failed = await me.portal('switch', { price: me.catalogue.prices.premium, authentication: 'fail' });
  expect([failed.status, await failed.text()]).toEqual([402, expect.stringContaining('unable to authenticate')]);
  await me.portal('switch', { price: me.catalogue.prices.premium, authentication: 'complete' });
  expect(priceOf(await me.current())).toBe(me.catalogue.prices.premium);

  const { default_payment_method: before } = await me.current();
  expect(await (await me.portal('card', { card: once })).text()).toContain('Complete authentication');
  expect((await me.current()).default_payment_method).toBe(before);
  await me.portal('card', { card: once, authentication: 'complete' });
  expect((await me.current()).default_payment_method).not.toBe(before);
});

test('a setup intent for later charges needs authentication too', async () => {
  const me = await newPerson();
  const intent = await me.stripe.setupIntents.create({ customer: me.customer });
  const confirmed = await me.stripe.setupIntents.confirm(intent.id, {
    payment_method: 'pm_card_authenticationRequired',
    return_url: me.shop.url,
  });
  expect([confirmed.status, confirmed.next_action?.type]).toEqual(['requires_action', 'use_stripe_sdk']);
});
