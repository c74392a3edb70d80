import { expect, test } from 'vitest';
import { newPerson, priceOf, draftHour, week, idOf, type Person } from './local-stripe.ts';
import type { Stripe } from 'stripe';

test('a checkout sells a week, and the weeks after it', async () => {
  const me = await newPerson();
  const session = await me.checkout('basic', { client_reference_id: 'me', metadata: { tier: 'basic' } });
  const page = await (await fetch(session.url ?? '')).text();
  for (const text of ['Basic', '$11.99', '/ week', '>Subscribe<', '>Back<']) expect(page).toContain(text);

  const done = await me.press(session.url ?? '', { card: '4242424242424242' });
  expect(done.status).toBe(303);
  expect(done.headers.get('location')).toBe(`${me.shop.url}/success?session_id=${session.id}`);
  const completed = await me.stripe.checkout.sessions.retrieve(session.id, { expand: ['line_items', 'subscription'] });
  expect(completed).toMatchObject({
    status: 'complete',
    payment_status: 'paid',
    url: null,
    metadata: { tier: 'basic' },
  });
  expect(completed.line_items?.data[0]?.price?.id).toBe(me.catalogue.prices.basic);

  const first = await me.current();
  expect(first).toMatchObject({ status: 'active', cancel_at: null, billing_mode: { type: 'flexible' } });
  const start = first.items.data[0]?.current_period_start ?? 0;
  expect(first.items.data[0]?.current_period_end).toBe(start + week);
  await me.advance(12 * week + draftHour + 60);
  const later = await me.current();
  expect(later.items.data[0]?.current_period_start).toBe(start + 12 * week);
  const invoices = await me.stripe.invoices.list({ customer: me.customer, limit: 100 });
  expect(invoices.data.map(({ status }) => status)).toEqual(Array.from({ length: 13 }, () => 'paid'));
  expect(invoices.data[0]?.parent?.subscription_details?.subscription).toBe(first.id);
});

test('two clicks on Subscribe, even at once, make one subscription', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('basic');
  const responses = await Promise.all([me.press(url ?? ''), me.press(url ?? ''), me.press(url ?? '')]);
  for (const response of responses) expect(response.headers.get('location')).toContain(id);
  expect((await me.stripe.subscriptions.list({ customer: me.customer })).data).toHaveLength(1);
});

test('a refused card changes nothing, and another one pays', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('premium');
  for (const card of ['4000000000000002', '4000000000000341']) {
    const refused = await me.press(url ?? '', { card });
    expect(refused.status).toBe(402);
    expect(await refused.text()).toContain('Your card was declined.');
  }
  expect((await me.stripe.subscriptions.list({ customer: me.customer, status: 'all' })).data).toHaveLength(0);
  expect((await me.stripe.checkout.sessions.retrieve(id)).status).toBe('open');
  await me.press(url ?? '', { card: '5555555555554444' });
  expect(priceOf(await me.current())).toBe(me.catalogue.prices.premium);
});

test('Back goes to the cancel address; an old page expires after a day', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('basic');
  expect((await me.press(`${url}/back`)).headers.get('location')).toBe(`${me.shop.url}/canceled`);
  await me.advance(86_401);
  expect(await me.stripe.checkout.sessions.retrieve(id)).toMatchObject({ status: 'expired', url: null });
  expect(me.receivedTypes()).toContain('checkout.session.expired');
  expect((await me.press(url ?? '')).status).toBe(410);
  await expect(me.stripe.checkout.sessions.expire(id)).rejects.toMatchObject({ statusCode: 400 });
});

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

test('a cancellation can be undone', async () => {
  const me = await newPerson();
  const { items } = await me.subscribe('basic');
  await me.portal('cancel');
  const canceling = await me.current();
  expect(canceling).toMatchObject({
    status: 'active',
    cancel_at_period_end: false,
    cancel_at: items.data[0]?.current_period_end,
  });
  await me.portal('keep');
  await me.advance(week + 60);
  expect(await me.current()).toMatchObject({ status: 'active', cancel_at: null, canceled_at: null });
});

test("a cancellation comes true at the week's end, without another charge", async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('basic');
  await me.stripe.subscriptions.update(id, { cancel_at_period_end: true });
  await me.advance(2 * week);
  const ended = await me.current();
  expect(ended).toMatchObject({ status: 'canceled', ended_at: items.data[0]?.current_period_end });
  expect((await me.stripe.invoices.list({ customer: me.customer })).data).toHaveLength(1);
  expect((await me.stripe.subscriptions.list({ customer: me.customer })).data).toHaveLength(0);
  expect(me.receivedTypes()).toContain('customer.subscription.deleted');
  await expect(me.stripe.subscriptions.cancel(id)).rejects.toMatchObject({ code: 'resource_missing' });
});

test('a declined renewal stays past due with a new card until its invoice is paid', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  await me.setCard(true);
  await me.advance(week + draftHour + 60);
  const overdue = await me.current();
  expect(overdue.status).toBe('past_due');
  const invoice = await me.stripe.invoices.retrieve(idOf(overdue.latest_invoice));
  expect(invoice).toMatchObject({ status: 'open', attempt_count: 1, amount_remaining: 1199 });
  expect(invoice.next_payment_attempt).toBeGreaterThan(invoice.created);
  await expect(me.stripe.invoices.pay(invoice.id)).rejects.toMatchObject({
    type: 'StripeCardError',
    code: 'card_declined',
  });
  expect((await me.stripe.invoices.retrieve(invoice.id)).attempt_count).toBe(2);

  expect((await me.portal('card', { card: '4242424242424242' })).status).toBe(303);
  expect((await me.current()).status).toBe('past_due');
  const refused = await me.press(invoice.hosted_invoice_url ?? '', { card: '4000000000000341' });
  expect(await refused.text()).toContain('Your card was declined.');
  await me.press(invoice.hosted_invoice_url ?? '', { card: '4242424242424242' });
  expect((await me.current()).status).toBe('active');
  expect((await me.stripe.invoices.retrieve(invoice.id)).status).toBe('paid');
});

test('a retry succeeds by itself when the card works again', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  await me.setCard(true);
  await me.advance(week + draftHour + 60);
  await me.setCard(false);
  await me.advance(day);
  expect((await me.current()).status).toBe('active');
});

test('a deleted customer is not charged any more', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  const { url } = await me.checkout('premium');
  expect(await me.stripe.customers.del(me.customer)).toMatchObject({ deleted: true });
  expect(await me.stripe.customers.retrieve(me.customer)).toEqual(expect.objectContaining({ deleted: true }));
  expect((await me.stripe.subscriptions.retrieve(id)).status).toBe('canceled');
  expect((await me.press(url ?? '')).status).toBe(402);
  const stored = await me.control('GET', '/customers/15550100123');
  expect(stored).toMatchObject({ customer: { deleted: true }, subscriptions: [{ status: 'canceled' }] });
});
