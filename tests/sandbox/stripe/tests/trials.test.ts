import type { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { idOf, newPerson, type Person, priceOf } from './subscriber.ts';
import { draftHour, week } from './start-stripe.ts';

const day = 86_400;

async function saveCard(me: Person, card = '4242424242424242'): Promise<string> {
  const setup = {
    mode: 'setup',
    currency: 'usd',
    line_items: undefined,
    setup_intent_data: { metadata: { tier: 'basic' } },
  } as const;
  const { line_items: _, ...params } = setup;
  const session = await me.stripe.checkout.sessions.create({
    ...params,
    customer: me.customer,
    success_url: `${me.shop.url}/saved?session_id={CHECKOUT_SESSION_ID}`,
    cancel_url: me.shop.url,
  });
  expect(await (await fetch(session.url ?? '')).text()).toContain('>Subscribe<');
  await me.press(session.url ?? '', { card });
  const done = await me.stripe.checkout.sessions.retrieve(session.id, { expand: ['setup_intent'] });
  const intent = done.setup_intent as Stripe.SetupIntent;
  expect([done.status, intent.status, intent.metadata?.['tier']]).toEqual(['complete', 'succeeded', 'basic']);
  return idOf(intent.payment_method);
}

async function startTrial(me: Person, extra: Partial<Stripe.SubscriptionCreateParams> = {}) {
  const { now } = await me.control('GET', '/clock');
  const trial_end = Number(now) + 5 * day;
  const items = [{ price: me.catalogue.prices.basic }];
  return me.stripe.subscriptions.create({
    customer: me.customer,
    items,
    trial_end,
    billing_mode: { type: 'flexible' },
    ...extra,
  });
}

test('a saved card pays when the trial ends', async () => {
  const me = await newPerson();
  const default_payment_method = await saveCard(me);
  await me.stripe.customers.update(me.customer, { invoice_settings: { default_payment_method } });
  const { trial_end: end, status } = await startTrial(me);
  expect(status).toBe('trialing');
  await me.advance(2 * day + 60);
  expect(me.receivedTypes()).toContain('customer.subscription.trial_will_end');
  await me.advance(3 * day);
  const paying = await me.current();
  expect(paying).toMatchObject({ status: 'active', trial_end: end });
  expect(paying.items.data[0]).toMatchObject({ current_period_start: end, current_period_end: Number(end) + week });
  const totals = (await me.stripe.invoices.list({ customer: me.customer })).data.map(
    ({ total, billing_reason: reason }) => [reason, total],
  );
  expect(totals).toEqual([
    ['subscription_cycle', 1199],
    ['subscription_create', 0],
  ]);
});

test.each([
  ['cancel', 'canceled'],
  ['pause', 'paused'],
  ['create_invoice', 'past_due'],
] as const)('a trial without a card ends as its settings say: %s', async (missing_payment_method, status) => {
  const me = await newPerson();
  await startTrial(me, { trial_settings: { end_behavior: { missing_payment_method } } });
  await me.advance(5 * day + draftHour + 60);
  expect((await me.current()).status).toBe(status);
});

test('a card that fails at the end of a trial is past due', async () => {
  const me = await newPerson();
  const default_payment_method = await saveCard(me, '4000000000000341');
  await startTrial(me, { default_payment_method });
  await me.advance(5 * day + 60);
  expect((await me.current()).status).toBe('active');
  await me.advance(draftHour);
  expect((await me.current()).status).toBe('past_due');
});

test('plans change within a trial without ending it', async () => {
  const me = await newPerson();
  const default_payment_method = await saveCard(me);
  await startTrial(me, { default_payment_method });
  await me.portal('switch', { price: me.catalogue.prices.premium });
  expect(await me.current()).toMatchObject({ status: 'trialing' });
  expect(priceOf(await me.current())).toBe(me.catalogue.prices.premium);
  await me.portal('switch', { price: me.catalogue.prices.basic });
  expect(priceOf(await me.current())).toBe(me.catalogue.prices.premium);
  await me.advance(5 * day + 60);
  const paying = await me.current();
  expect([paying.status, priceOf(paying)]).toEqual(['active', me.catalogue.prices.basic]);
  expect((await me.stripe.invoices.retrieve(idOf(paying.latest_invoice))).total).toBe(1199);
});

test('without a card nothing is sold, unless it may stay incomplete', async () => {
  const me = await newPerson();
  const items = [{ price: me.catalogue.prices.basic }];
  await expect(me.stripe.subscriptions.create({ customer: me.customer, items })).rejects.toThrow(
    'no attached payment source',
  );
  const open = await me.stripe.subscriptions.create({
    customer: me.customer,
    items,
    payment_behavior: 'default_incomplete',
  });
  expect(open.status).toBe('incomplete');
  await me.advance(day);
  expect((await me.stripe.subscriptions.retrieve(open.id)).status).toBe('incomplete_expired');
  await me.stripe.paymentMethods
    .attach('pm_card_chargeCustomerFail', { customer: me.customer })
    .then(({ id }) => me.stripe.customers.update(me.customer, { invoice_settings: { default_payment_method: id } }));
  const strict = { customer: me.customer, items, payment_behavior: 'error_if_incomplete' } as const;
  await expect(me.stripe.subscriptions.create(strict)).rejects.toMatchObject({
    type: 'StripeCardError',
    statusCode: 402,
  });
  expect((await me.stripe.subscriptions.list({ customer: me.customer, status: 'all' })).data).toHaveLength(1);
  expect((await me.stripe.subscriptions.create({ customer: me.customer, items })).status).toBe('incomplete');
});
