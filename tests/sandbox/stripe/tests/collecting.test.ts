import { expect, test } from 'vitest';
import { draftHour, idOf, newPerson, type Person, phone, week } from './local-stripe.ts';

const day = 86_400;

test("a renewal's invoice is a draft for an hour, while the subscription is active", async () => {
  const me = await newPerson();
  const end = (await me.subscribe('basic')).items.data[0]!.current_period_end;
  await me.setCard(true);
  await me.advance(week + 60);
  const renewed = await me.current();
  expect([renewed.status, renewed.items.data[0]!.current_period_start]).toEqual(['active', end]);
  const at = end + draftHour;
  const planned = { auto_advance: true, automatically_finalizes_at: at, next_payment_attempt: at };
  expect(await me.invoice()).toMatchObject({ status: 'draft', number: null, attempted: false, ...planned });
  expect(me.receivedTypes()).not.toContain('invoice.payment_failed');
  await me.advance(draftHour);
  expect(await me.status()).toBe('past_due');
  const number = expect.stringMatching(/-0002$/);
  expect(await me.invoice()).toMatchObject({ status: 'open', attempt_count: 1, number });
  expect(me.receivedTypes()).toEqual(expect.arrayContaining(['invoice.finalized', 'invoice.payment_failed']));
});

test('a subscription that ends during the draft hour is not charged for the new week', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  await me.advance(week + 60);
  await me.stripe.subscriptions.cancel(id);
  await me.advance(2 * draftHour);
  const never = { status: 'draft', auto_advance: false, automatically_finalizes_at: null };
  expect((await me.invoices())[0]).toMatchObject(never);
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
  const { id } = await me.invoice();
  await me.advance((days - 1) * day);
  expect(await me.status()).toBe('past_due');
  await me.advance(day);
  const ended = { status: 'canceled', cancellation_details: { reason: 'payment_failed' } };
  expect(await me.current()).toMatchObject(ended);
  const open = { status: 'open', attempt_count: tries, next_payment_attempt: null, auto_advance: false };
  expect(await me.stripe.invoices.retrieve(id)).toMatchObject(open);
});

test('an unpaid subscription writes drafts that are never charged, until its last open invoice is paid', async () => {
  const me = await failingRenewal({ retries: 'five-days', afterRetries: 'unpaid' });
  const { id: owed } = await me.invoice();
  await me.advance(5 * day);
  expect(await me.status()).toBe('unpaid');
  await me.setCard(false);
  await me.advance(2 * week);
  expect(await me.status()).toBe('unpaid');
  const drafts = (await me.invoices()).filter(({ status }) => status === 'draft');
  expect(drafts.map((draft) => draft.automatically_finalizes_at)).toEqual([null, null]);
  await me.stripe.invoices.pay(owed);
  expect(await me.status()).toBe('active');
});

/** Documented: `active` does not say that every invoice is paid; only the latest finalized one decides. */
test('a subscription that is left past due renews, and its latest invoice decides', async () => {
  const me = await failingRenewal({ retries: 'five-days', afterRetries: 'past_due' });
  const { id: first } = await me.invoice();
  await me.advance(6 * day);
  expect(await me.status()).toBe('past_due');
  await me.advance(week);
  const { id: second } = await me.invoice();
  await me.setCard(false);
  await me.stripe.invoices.pay(first);
  expect(await me.status()).toBe('past_due');
  await me.stripe.invoices.pay(second);
  expect(await me.status()).toBe('active');
});

test('a failed try of an older invoice leaves a subscription active', async () => {
  const me = await failingRenewal({ retries: 'five-days', afterRetries: 'past_due' });
  const { id: older } = await me.invoice();
  await me.advance(week + draftHour);
  await me.setCard(false);
  await me.stripe.invoices.pay((await me.invoice()).id);
  await me.setCard(true);
  await expect(me.stripe.invoices.pay(older)).rejects.toThrow('declined');
  expect([await me.status(), (await me.stripe.invoices.retrieve(older)).status]).toEqual(['active', 'open']);
});

test('giving up the latest invoice makes a past-due subscription active; an older one changes nothing', async () => {
  const me = await failingRenewal({ retries: 'five-days', afterRetries: 'past_due' });
  const { id: older } = await me.invoice();
  await me.advance(week + draftHour);
  const { id: newer } = await me.invoice();
  await me.stripe.invoices.markUncollectible(older);
  expect(await me.status()).toBe('past_due');
  const given = { status: 'uncollectible', auto_advance: false };
  expect(await me.stripe.invoices.markUncollectible(newer)).toMatchObject(given);
  expect(await me.status()).toBe('active');
  expect(me.receivedTypes()).toContain('invoice.marked_uncollectible');
  await expect(me.stripe.invoices.markUncollectible(newer)).rejects.toThrow('open invoices');
  await me.setCard(false);
  expect((await me.stripe.invoices.pay(older)).status).toBe('paid');
});

const once = '4000002500003155';
const always = '4000002760003184';

/** A subscriber with a card whose bank asks for authentication. */
async function careful(card: string): Promise<Person> {
  const me = await newPerson();
  const { url } = await me.checkout('basic');
  await me.press(url ?? '', { card, authentication: 'complete' });
  return me;
}

test('a payment that was not authenticated is not retried with the same card', async () => {
  const me = await careful(always);
  await me.advance(week + draftHour + 60);
  await me.advance(4 * day);
  expect(await me.invoice()).toMatchObject({ status: 'open', attempt_count: 3 });
  expect(me.receivedTypes().filter((type) => type === 'invoice.payment_failed')).toHaveLength(1);
  await me.portal('card', { card: '4242424242424242' });
  expect(await me.status()).toBe('past_due');
  await me.advance(day);
  expect(await me.status()).toBe('active');
});

test('refuses unknown settings', async () => {
  const me = await newPerson();
  for (const settings of [{ retries: 'often' }, { afterRetries: 'shrug' }, { speed: 1 }])
    expect(await me.control('PUT', '/settings', settings)).toHaveProperty('error');
  expect(await me.control('GET', '/settings')).toEqual({ retries: 'two-weeks', afterRetries: 'cancel' });
});

test('a first payment that needs authentication leaves the subscription incomplete and is not counted', async () => {
  const me = await newPerson();
  await me.saveCard('pm_card_authenticationRequired');
  const order = { customer: me.customer, items: [{ price: me.catalogue.prices.basic }] };
  const strict = me.stripe.subscriptions.create({ ...order, payment_behavior: 'error_if_incomplete' });
  const code = 'subscription_payment_intent_requires_action';
  await expect(strict).rejects.toMatchObject({ statusCode: 402, code });
  expect(await me.subscriptions()).toEqual([]);
  const expand = ['latest_invoice.payments.data.payment.payment_intent'];
  const { status, latest_invoice } = await me.stripe.subscriptions.create({ ...order, expand });
  expect(status).toBe('incomplete');
  const payment_intent = { status: 'requires_action', next_action: { type: 'use_stripe_sdk' } };
  expect(latest_invoice).toMatchObject({
    status: 'open',
    attempted: true,
    attempt_count: 0,
    next_payment_attempt: null,
    payments: { data: [{ payment: { payment_intent } }] },
  });
  await me.advance(0);
  expect(me.receivedTypes()).toContain('invoice.payment_action_required');
  expect(me.receivedTypes()).not.toContain('invoice.payment_failed');
  await me.control('POST', `/customers/${phone}/authenticate`, { succeeds: true });
  expect(await me.status()).toBe('active');
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
  expect(await me.subscriptions()).toEqual([]);
  const done = await me.press(url ?? '', { card, authentication: 'complete' });
  expect(done.headers.get('location')).toContain(id);
  expect(await me.status()).toBe('active');
});

test('a card that needs authentication once is charged for renewals', async () => {
  const me = await careful(once);
  await me.advance(week + draftHour + 60);
  expect(await me.status()).toBe('active');
});

test.each([
  [true, 'active', 'paid'],
  [false, 'past_due', 'open'],
])('a renewal that needs authentication is past due until then: %s', async (succeeds, end, status) => {
  const me = await careful(always);
  await me.advance(week + 60);
  const authenticate = () => me.control('POST', `/customers/${phone}/authenticate`, { succeeds });
  expect(await authenticate()).toHaveProperty('error');
  await me.advance(draftHour);
  expect(await me.status()).toBe('past_due');
  const failures = ['invoice.payment_action_required', 'invoice.payment_failed'];
  expect(me.receivedTypes()).toEqual(expect.arrayContaining(failures));
  const { id, attempt_count: attempts } = await me.invoice();
  const { payments } = await me.stripe.invoices.retrieve(id, { expand: ['payments'] });
  const intent = await me.stripe.paymentIntents.retrieve(idOf(payments?.data[0]?.payment.payment_intent ?? ''));
  expect([intent.status, attempts]).toEqual(['requires_action', 1]);
  expect(await authenticate()).toMatchObject({ id, status });
  expect(await me.status()).toBe(end);
});

test('the page of an open invoice completes an authentication, or charges another card', async () => {
  const me = await careful(always);
  await me.advance(week + draftHour + 60);
  const url = (await me.invoice()).hosted_invoice_url ?? '';
  expect(await (await fetch(url)).text()).toContain('Complete authentication');
  const failed = await me.press(url, { authentication: 'fail' });
  expect(await failed.text()).toContain('We are unable to authenticate');
  expect(await (await me.press(url, { card: always })).text()).toContain('Complete authentication');
  await me.press(url, { card: always, authentication: 'complete' });
  expect(await me.status()).toBe('active');
});

test('the portal requires authentication before it saves or charges such a card', async () => {
  const me = await careful(always);
  const { basic, premium: price } = me.catalogue.prices;
  expect(await (await me.portal('switch', { price })).text()).toContain('Complete authentication');
  const failed = await me.portal('switch', { price, authentication: 'fail' });
  expect([failed.status, await failed.text()]).toEqual([402, expect.stringContaining('unable to authenticate')]);
  expect(await me.price()).toBe(basic);
  await me.portal('switch', { price, authentication: 'complete' });
  expect(await me.price()).toBe(price);

  const { default_payment_method: before } = await me.current();
  expect(await (await me.portal('card', { card: once })).text()).toContain('Complete authentication');
  expect((await me.current()).default_payment_method).toBe(before);
  await me.portal('card', { card: once, authentication: 'complete' });
  expect((await me.current()).default_payment_method).not.toBe(before);
});

test('a setup intent for later charges needs authentication too', async () => {
  const me = await newPerson();
  const { id } = await me.stripe.setupIntents.create({ customer: me.customer });
  const confirmation = { payment_method: 'pm_card_authenticationRequired', return_url: me.shop.url };
  const confirmed = await me.stripe.setupIntents.confirm(id, confirmation);
  expect([confirmed.status, confirmed.next_action?.type]).toEqual(['requires_action', 'use_stripe_sdk']);
});
