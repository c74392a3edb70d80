import { expect, test } from 'vitest';
import { idOf, newPerson, type Person, draftHour, week, phone, priceOf } from './local-stripe.ts';

const day = 86_400;

test("a renewal's invoice is a draft for an hour, while the subscription is active", async () => {
  const me = await newPerson();
  const first = await me.subscribe('basic');
  const end = Number(first.items.data[0]?.current_period_end);
  await me.setCard(true);
  await me.advance(week + 60);
  const renewed = await me.current();
  expect(renewed.status).toBe('active');
  expect(renewed.items.data[0]?.current_period_start).toBe(end);
  const draft = await me.stripe.invoices.retrieve(idOf(renewed.latest_invoice));
  expect(draft).toMatchObject({
    status: 'draft',
    number: null,
    attempted: false,
    auto_advance: true,
    automatically_finalizes_at: end + draftHour,
    next_payment_attempt: end + draftHour,
  });
  expect(me.receivedTypes()).not.toContain('invoice.payment_failed');
  await me.advance(draftHour);
  expect((await me.current()).status).toBe('past_due');
  const open = await me.stripe.invoices.retrieve(draft.id);
  expect(open).toMatchObject({ status: 'open', attempt_count: 1, number: expect.stringMatching(/-0002$/) });
  expect(me.receivedTypes()).toEqual(expect.arrayContaining(['invoice.finalized', 'invoice.payment_failed']));
});

test('a subscription that ends during the draft hour is not charged for the new week', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  await me.advance(week + 60);
  await me.stripe.subscriptions.cancel(id);
  await me.advance(2 * draftHour);
  const [invoice] = (await me.stripe.invoices.list({ customer: me.customer, limit: 1 })).data;
  expect(invoice).toMatchObject({ status: 'draft', auto_advance: false, automatically_finalizes_at: null });
});

async function failingRenewal(settings: object): Promise<Person> {
  const me = await newPerson();
  expect(await me.control('PUT', '/settings', settings)).toMatchObject(settings);
  await me.subscribe('basic');
  await me.setCard(true);
  await me.advance(week + draftHour + 60);
  return me;
}

test.each([
  ['five-days', 5, 4],
  ['two-weeks', 14, 9],
] as const)('failed renewals are tried again: %s', async (retries, days, tries) => {
  const me = await failingRenewal({ retries });
  const { latest_invoice: invoice } = await me.current();
  await me.advance((days - 1) * day);
  expect((await me.current()).status).toBe('past_due');
  await me.advance(day);
  const ended = await me.current();
  expect([ended.status, ended.cancellation_details?.reason]).toEqual(['canceled', 'payment_failed']);
  expect(await me.stripe.invoices.retrieve(idOf(invoice))).toMatchObject({
    status: 'open',
    attempt_count: tries,
    next_payment_attempt: null,
    auto_advance: false,
  });
});

test('an unpaid subscription writes drafts that are never charged, until its last open invoice is paid', async () => {
  const me = await failingRenewal({ retries: 'five-days', afterRetries: 'unpaid' });
  const { latest_invoice: owed } = await me.current();
  await me.advance(5 * day);
  expect((await me.current()).status).toBe('unpaid');
  await me.setCard(false);
  await me.advance(2 * week);
  expect((await me.current()).status).toBe('unpaid');
  const drafts = (await me.stripe.invoices.list({ customer: me.customer, status: 'draft' })).data;
  expect(drafts.map((draft) => draft.automatically_finalizes_at)).toEqual([null, null]);
  await me.stripe.invoices.pay(idOf(owed));
  expect((await me.current()).status).toBe('active');
});

test('a subscription that is left past due renews, and its latest invoice decides', async () => {
  const me = await failingRenewal({ retries: 'five-days', afterRetries: 'past_due' });
  const { latest_invoice: first } = await me.current();
  await me.advance(6 * day);
  expect((await me.current()).status).toBe('past_due');
  await me.advance(week);
  const { latest_invoice: second } = await me.current();
  await me.setCard(false);
  await me.stripe.invoices.pay(idOf(first));
  expect((await me.current()).status).toBe('past_due');
  await me.stripe.invoices.pay(idOf(second));
  expect((await me.current()).status).toBe('active');
});

/** Documented: `active` does not say that every invoice is paid; only the latest finalized one decides. */
test('a failed try of an older invoice leaves a subscription active', async () => {
  const me = await failingRenewal({ retries: 'five-days', afterRetries: 'past_due' });
  const { latest_invoice: older } = await me.current();
  await me.advance(week + draftHour);
  const { latest_invoice: newer } = await me.current();
  await me.setCard(false);
  await me.stripe.invoices.pay(idOf(newer));
  await me.setCard(true);
  await expect(me.stripe.invoices.pay(idOf(older))).rejects.toThrow('declined');
  expect((await me.current()).status).toBe('active');
  expect((await me.stripe.invoices.retrieve(idOf(older))).status).toBe('open');
});

test('giving up the latest invoice makes a past-due subscription active; an older one changes nothing', async () => {
  const me = await failingRenewal({ retries: 'five-days', afterRetries: 'past_due' });
  const { latest_invoice: older } = await me.current();
  await me.advance(week + draftHour);
  const { latest_invoice: newer } = await me.current();
  await me.stripe.invoices.markUncollectible(idOf(older));
  expect((await me.current()).status).toBe('past_due');
  expect(await me.stripe.invoices.markUncollectible(idOf(newer))).toMatchObject({
    status: 'uncollectible',
    auto_advance: false,
  });
  expect((await me.current()).status).toBe('active');
  expect(me.receivedTypes()).toContain('invoice.marked_uncollectible');
  await expect(me.stripe.invoices.markUncollectible(idOf(newer))).rejects.toThrow('open invoices');
  await me.setCard(false);
  expect((await me.stripe.invoices.pay(idOf(older))).status).toBe('paid');
});

test('a payment that was not authenticated is not retried with the same card', async () => {
  const me = await newPerson();
  const { url } = await me.checkout('basic');
  await me.press(url ?? '', { card: '4000002760003184', authentication: 'complete' });
  await me.advance(week + draftHour + 60);
  const { latest_invoice: owed } = await me.current();
  await me.advance(4 * day);
  expect(await me.stripe.invoices.retrieve(idOf(owed))).toMatchObject({ status: 'open', attempt_count: 3 });
  expect(me.receivedTypes().filter((type) => type === 'invoice.payment_failed')).toHaveLength(1);
  await me.portal('card', { card: '4242424242424242' });
  expect((await me.current()).status).toBe('past_due');
  await me.advance(day);
  expect((await me.current()).status).toBe('active');
});

test('refuses unknown settings', async () => {
  const me = await newPerson();
  for (const settings of [{ retries: 'often' }, { afterRetries: 'shrug' }, { speed: 1 }]) {
    expect(await me.control('PUT', '/settings', settings)).toHaveProperty('error');
  }
  expect(await me.control('GET', '/settings')).toEqual({ retries: 'two-weeks', afterRetries: 'cancel' });
});

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
