import { expect, test } from 'vitest';
import { day, draftHour, newPerson, type Person, phone, week } from './local-stripe.ts';

test('a card belongs to one customer, and cannot be used after it was detached', async () => {
  const { stripe, customer, catalogue } = await newPerson();
  const other = await stripe.customers.create({ payment_method: 'pm_card_visa' });
  const { id } = (await stripe.customers.listPaymentMethods(other.id)).data[0]!;
  const order = { customer, items: [{ price: catalogue.prices.basic }], default_payment_method: id };
  const refused = { code: 'resource_missing', param: 'default_payment_method' };
  await expect(stripe.subscriptions.create(order)).rejects.toMatchObject(refused);
  const changes = { invoice_settings: { default_payment_method: id } };
  const param = 'invoice_settings[default_payment_method]';
  await expect(stripe.customers.update(customer, changes)).rejects.toMatchObject({ param });
  await stripe.paymentMethods.detach(id);
  await expect(stripe.paymentMethods.detach(id)).rejects.toThrow('not attached to a customer');
  await expect(stripe.paymentMethods.attach(id, { customer })).rejects.toThrow('may not be used again');
});

test('refunds never more than was paid, and nothing that is disputed', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  const { id: charge } = (await me.stripe.charges.list({ customer: me.customer })).data[0]!;
  await me.stripe.refunds.create({ charge, amount: 199 });
  for (const amount of [0, 1001])
    await expect(me.stripe.refunds.create({ charge, amount })).rejects.toMatchObject({ param: 'amount' });
  await me.stripe.refunds.create({ charge });
  await expect(me.stripe.refunds.create({ charge })).rejects.toMatchObject({ code: 'charge_already_refunded' });

  await me.subscribe('basic');
  const { id: disputed } = (await me.stripe.charges.list({ customer: me.customer })).data[0]!;
  await me.control('POST', `/customers/${phone}/dispute`);
  await expect(me.stripe.refunds.create({ charge: disputed })).rejects.toMatchObject({ code: 'charge_disputed' });
});

test('the lines of a change are rounded separately, half a cent downwards', async () => {
  const me = await newPerson();
  const start = (await me.subscribe('basic')).items.data[0]!.current_period_start;
  await me.advance(week / 3);
  await me.portal('switch', { price: me.catalogue.prices.premium });
  const [credit, debit] = (await me.invoice()).lines.data;
  const left = (start + week - credit!.period.start) / week;
  expect([credit!.amount, debit!.amount]).toEqual([Math.ceil(-1199 * left - 0.5), Math.ceil(2999 * left - 0.5)]);
});

test('less than 50 cents is added to the balance instead of charged', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  await me.advance(week - 600);
  await me.portal('switch', { price: me.catalogue.prices.premium });
  const { total, ...invoice } = await me.invoice();
  expect(total).toBeGreaterThan(0);
  expect(invoice).toMatchObject({ status: 'paid', amount_due: 0, attempt_count: 0, ending_balance: total });
  expect(await me.stripe.customers.retrieve(me.customer)).toMatchObject({ balance: total });
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

async function failingRenewal(afterRetries: 'unpaid' | 'past_due'): Promise<Person> {
  const me = await newPerson();
  await me.control('PUT', '/settings', { retries: 'five-days', afterRetries });
  await me.subscribe('basic');
  await me.setCard(true);
  await me.advance(week + draftHour + 60);
  return me;
}

test('an unpaid subscription writes drafts that are never charged, until its last open invoice is paid', async () => {
  const me = await failingRenewal('unpaid');
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
test('the latest finalized invoice decides, whether an older one is paid, declined or given up', async () => {
  const me = await failingRenewal('past_due');
  const { id: first } = await me.invoice();
  await me.advance(week);
  const { id: second } = await me.invoice();
  await me.advance(week);
  const { id: latest } = await me.invoice();
  await me.stripe.invoices.markUncollectible(first);
  await me.setCard(false);
  await me.stripe.invoices.pay(first);
  expect(await me.status()).toBe('past_due');
  expect((await me.stripe.invoices.markUncollectible(latest)).status).toBe('uncollectible');
  expect(await me.status()).toBe('active');
  await expect(me.stripe.invoices.markUncollectible(latest)).rejects.toThrow('open invoices');
  await me.setCard(true);
  await expect(me.stripe.invoices.pay(second)).rejects.toThrow('declined');
  expect([await me.status(), (await me.stripe.invoices.retrieve(second)).status]).toEqual(['active', 'open']);
});

test('a payment that was not authenticated is not retried with the same card', async () => {
  const me = await newPerson();
  await me.subscribe('basic', { card: '4000002760003184', authentication: 'complete' });
  await me.advance(week + draftHour + 60);
  await me.advance(4 * day);
  expect(await me.invoice()).toMatchObject({ status: 'open', attempt_count: 3 });
  expect(me.receivedTypes().filter((type) => type === 'invoice.payment_failed')).toHaveLength(1);
  await me.portal('card', { card: '4242424242424242' });
  expect(await me.status()).toBe('past_due');
  await me.advance(day);
  expect(await me.status()).toBe('active');
});
