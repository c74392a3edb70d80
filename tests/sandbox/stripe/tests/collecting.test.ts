import { expect, test } from 'vitest';
import { idOf, newPerson, type Person } from './subscriber.ts';
import { draftHour, week } from './start-stripe.ts';

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
