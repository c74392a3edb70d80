import type { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { draftHour, idOf, newPerson, type Person, week } from './local-stripe.ts';

const day = 86_400;

test('a checkout sells a week, and the weeks after it', async () => {
  const me = await newPerson();
  const session = await me.checkout('basic', { client_reference_id: 'me', metadata: { tier: 'basic' } });
  const page = await (await fetch(session.url ?? '')).text();
  for (const text of ['Basic', '$11.99', '/ week', '>Subscribe<', '>Back<']) expect(page).toContain(text);

  // Clicks at once make one subscription.
  for (const done of await Promise.all([me.press(session.url ?? ''), me.press(session.url ?? '')]))
    expect(done.headers.get('location')).toBe(`${me.shop.url}/success?session_id=${session.id}`);
  const completed = await me.stripe.checkout.sessions.retrieve(session.id, { expand: ['line_items', 'subscription'] });
  const paid = { status: 'complete', payment_status: 'paid', url: null, metadata: { tier: 'basic' } };
  expect(completed).toMatchObject(paid);
  expect(completed.line_items?.data[0]?.price?.id).toBe(me.catalogue.prices.basic);
  expect(await me.subscriptions()).toMatchObject([
    { status: 'active', cancel_at: null, billing_mode: { type: 'flexible' } },
  ]);
  const { id, items } = await me.current();
  const [{ current_period_start: start, current_period_end: end }] = items.data as [Stripe.SubscriptionItem];
  expect(end).toBe(start + week);
  await me.advance(12 * week + draftHour + 60);
  expect((await me.current()).items.data[0]!.current_period_start).toBe(start + 12 * week);
  const invoices = await me.invoices();
  expect(invoices.map(({ status }) => status)).toEqual(Array.from({ length: 13 }, () => 'paid'));
  expect(invoices[0]!.parent?.subscription_details?.subscription).toBe(id);
});

test('a refused card changes nothing, and another one pays', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('premium');
  for (const card of ['4000000000000002', '4000000000000341']) {
    const refused = await me.press(url ?? '', { card });
    expect([refused.status, await refused.text()]).toEqual([402, expect.stringContaining('Your card was declined.')]);
  }
  expect(await me.subscriptions()).toEqual([]);
  expect((await me.stripe.checkout.sessions.retrieve(id)).status).toBe('open');
  await me.press(url ?? '', { card: '5555555555554444' });
  expect(await me.price()).toBe(me.catalogue.prices.premium);
});

test('Back goes to the cancel address; an old page expires after a day', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('basic');
  expect((await me.press(`${url}/back`)).headers.get('location')).toBe(`${me.shop.url}/canceled`);
  await me.advance(day + 1);
  expect(await me.stripe.checkout.sessions.retrieve(id)).toMatchObject({ status: 'expired', url: null });
  expect(me.receivedTypes()).toContain('checkout.session.expired');
  expect((await me.press(url ?? '')).status).toBe(410);
  await expect(me.stripe.checkout.sessions.expire(id)).rejects.toMatchObject({ statusCode: 400 });
});

/** Saves a card on a hosted page, and returns its id. */
async function saveOnPage(me: Person, card = '4242424242424242'): Promise<string> {
  const session = await me.stripe.checkout.sessions.create({
    mode: 'setup',
    currency: 'usd',
    customer: me.customer,
    setup_intent_data: { metadata: { tier: 'basic' } },
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
  const trial = {
    customer: me.customer,
    items: [{ price: me.catalogue.prices.basic }],
    trial_end: Number(now) + 5 * day,
  };
  return me.stripe.subscriptions.create({ ...trial, billing_mode: { type: 'flexible' }, ...extra });
}

test('a saved card pays when the trial ends', async () => {
  const me = await newPerson();
  const default_payment_method = await saveOnPage(me);
  await me.stripe.customers.update(me.customer, { invoice_settings: { default_payment_method } });
  const { trial_end: end, status } = await startTrial(me);
  expect(status).toBe('trialing');
  await me.advance(2 * day + 60);
  expect(me.receivedTypes()).toContain('customer.subscription.trial_will_end');
  await me.advance(3 * day);
  const paying = await me.current();
  expect(paying).toMatchObject({ status: 'active', trial_end: end });
  expect(paying.items.data[0]).toMatchObject({ current_period_start: end, current_period_end: Number(end) + week });
  expect((await me.invoices()).map(({ total, billing_reason: reason }) => [reason, total])).toEqual([
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
  expect(await me.status()).toBe(status);
});

test('a card that fails at the end of a trial is past due after the hour of the draft', async () => {
  const me = await newPerson();
  await startTrial(me, { default_payment_method: await saveOnPage(me, '4000000000000341') });
  await me.advance(5 * day + 60);
  expect(await me.status()).toBe('active');
  await me.advance(draftHour);
  expect(await me.status()).toBe('past_due');
});

test('plans change within a trial without ending it', async () => {
  const me = await newPerson();
  await startTrial(me, { default_payment_method: await saveOnPage(me) });
  const { basic, premium } = me.catalogue.prices;
  await me.portal('switch', { price: premium });
  expect([await me.status(), await me.price()]).toEqual(['trialing', premium]);
  await me.portal('switch', { price: basic });
  expect(await me.price()).toBe(premium);
  await me.advance(5 * day + 60);
  expect([await me.status(), await me.price(), (await me.invoice()).total]).toEqual(['active', basic, 1199]);
});

test('without a card nothing is sold, unless it may stay incomplete', async () => {
  const me = await newPerson();
  const order = { customer: me.customer, items: [{ price: me.catalogue.prices.basic }] };
  await expect(me.stripe.subscriptions.create(order)).rejects.toThrow('no attached payment source');
  const open = await me.stripe.subscriptions.create({ ...order, payment_behavior: 'default_incomplete' });
  expect(open.status).toBe('incomplete');
  await me.advance(day);
  expect(await me.status()).toBe('incomplete_expired');
  await me.saveCard('pm_card_chargeCustomerFail');
  const strict = me.stripe.subscriptions.create({ ...order, payment_behavior: 'error_if_incomplete' });
  await expect(strict).rejects.toMatchObject({ type: 'StripeCardError', statusCode: 402 });
  expect(await me.subscriptions()).toHaveLength(1);
  expect((await me.stripe.subscriptions.create(order)).status).toBe('incomplete');
});

test('a cancellation can be undone in the portal', async () => {
  const me = await newPerson();
  const { items } = await me.subscribe('basic');
  await me.portal('cancel');
  const cancel_at = items.data[0]!.current_period_end;
  expect(await me.current()).toMatchObject({ status: 'active', cancel_at_period_end: false, cancel_at });
  await me.portal('keep');
  await me.advance(week + 60);
  expect(await me.current()).toMatchObject({ status: 'active', cancel_at: null, canceled_at: null });
});

test("a cancellation comes true at the week's end, without another charge", async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('basic');
  await me.stripe.subscriptions.update(id, { cancel_at_period_end: true });
  await me.advance(2 * week);
  const end = items.data[0]!.current_period_end;
  const ended = { status: 'canceled', cancel_at: end, cancel_at_period_end: true, ended_at: end };
  expect(await me.current()).toMatchObject(ended);
  expect(await me.invoices()).toHaveLength(1);
  expect((await me.stripe.subscriptions.list({ customer: me.customer })).data).toHaveLength(0);
  expect(me.receivedTypes()).toContain('customer.subscription.deleted');
  await expect(me.stripe.subscriptions.cancel(id)).rejects.toMatchObject({ code: 'resource_missing' });
});

test('a declined renewal stays past due with a new card until its invoice is paid, or its retry succeeds', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  await me.setCard(true);
  await me.advance(week + draftHour + 60);
  expect(await me.status()).toBe('past_due');
  const { id, created, hosted_invoice_url: url, ...invoice } = await me.invoice();
  expect(invoice).toMatchObject({ status: 'open', attempt_count: 1, amount_remaining: 1199 });
  expect(invoice.next_payment_attempt).toBeGreaterThan(created);
  const declined = { type: 'StripeCardError', code: 'card_declined' };
  await expect(me.stripe.invoices.pay(id)).rejects.toMatchObject(declined);
  expect((await me.invoice()).attempt_count).toBe(2);

  expect((await me.portal('card', { card: '4242424242424242' })).status).toBe(303);
  expect(await me.status()).toBe('past_due');
  const refused = await me.press(url ?? '', { card: '4000000000000341' });
  expect(await refused.text()).toContain('Your card was declined.');
  await me.press(url ?? '', { card: '4242424242424242' });
  expect([await me.status(), (await me.invoice()).status]).toEqual(['active', 'paid']);

  await me.setCard(true);
  await me.advance(week);
  expect(await me.status()).toBe('past_due');
  await me.setCard(false);
  await me.advance(day);
  expect(await me.status()).toBe('active');
});

test('a deleted customer is not charged any more', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  const { url } = await me.checkout('premium');
  expect(await me.stripe.customers.del(me.customer)).toMatchObject({ deleted: true });
  expect((await me.press(url ?? '')).status).toBe(402);
  const stored = await me.control('GET', '/customers/15550100123');
  expect(stored).toMatchObject({ customer: { deleted: true }, subscriptions: [{ status: 'canceled' }] });
});
