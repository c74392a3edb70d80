import { expect, test } from 'vitest';
import { newPerson, phone } from './subscriber.ts';
import { draftHour, week } from './start-stripe.ts';

const otherPhone = '+15550100124';

/** A second customer of the same merchant, who pays weekly. */
async function addSubscriber({ stripe, catalogue }: Awaited<ReturnType<typeof newPerson>>) {
  const { id: customer } = await stripe.customers.create({ metadata: { phone: otherPhone } });
  const method = await stripe.paymentMethods.attach('pm_card_visa', { customer });
  const items = [{ price: catalogue.prices.basic }];
  const subscription = await stripe.subscriptions.create({ customer, items, default_payment_method: method.id });
  const invoices = async () => (await stripe.invoices.list({ customer })).data.length;
  return { customer, subscription, method, invoices };
}

test('time passes for one customer alone', async () => {
  const me = await newPerson();
  const other = await addSubscriber(me);
  const { id } = await me.subscribe('basic');
  const before = await me.control('GET', '/clock');
  const { now } = await me.control('POST', '/clock', { advanceSeconds: week + draftHour + 60, phone });
  expect(now).toBeGreaterThanOrEqual(Number(before['now']) + week + draftHour + 60);
  const invoices = await me.stripe.invoices.list({ customer: me.customer });
  expect(invoices.data.map(({ status }) => status)).toEqual(['paid', 'paid']);
  expect(invoices.data[0]?.created).toBeGreaterThan(Number(before['now']) + week - 60);
  expect(await other.invoices()).toBe(1);
  expect((await me.control('GET', '/clock'))['now']).toBeLessThan(Number(before['now']) + week);
  const own = Number((await me.control('GET', `/clock?phone=${encodeURIComponent(phone)}`))['now']);
  expect(own).toBeGreaterThanOrEqual(Number(now));

  const ended = await me.stripe.subscriptions.cancel(id);
  expect(ended.ended_at).toBeGreaterThanOrEqual(own);
  const late = await me.stripe.subscriptions.cancel(other.subscription.id);
  expect(late.ended_at).toBeLessThan(Number(before['now']) + week);
});

test('time that passes for everybody is added to the time of each customer', async () => {
  const me = await newPerson();
  const other = await addSubscriber(me);
  await me.subscribe('basic');
  await me.control('POST', '/clock', { advanceSeconds: week - 600, phone });
  await me.advance(1200 + draftHour);
  expect((await me.stripe.invoices.list({ customer: me.customer })).data).toHaveLength(2);
  expect(await other.invoices()).toBe(1);
});

test('retries and webhooks are set for one customer alone', async () => {
  const me = await newPerson();
  const other = await addSubscriber(me);
  await me.subscribe('basic');
  expect(await me.control('PUT', '/settings', { retries: 'five-days', afterRetries: 'unpaid', phone })).toEqual({
    retries: 'five-days',
    afterRetries: 'unpaid',
  });
  expect(await me.control('GET', '/settings')).toEqual({ retries: 'two-weeks', afterRetries: 'cancel' });
  await me.control('PUT', '/webhooks', { mode: 'hold', phone });
  me.shop.received.length = 0;
  for (const each of [phone, otherPhone]) await me.control('POST', `/customers/${each}/card`, { declines: true });
  await me.advance(week + draftHour + 60);
  const receivedOf = (customer: string) =>
    me.shop.received.filter(({ event }) => (event.data.object as { customer?: string }).customer === customer);
  expect(receivedOf(other.customer).map(({ event }) => event.type)).toContain('invoice.payment_failed');
  expect(receivedOf(me.customer)).toEqual([]);
  await me.control('PUT', '/webhooks', { mode: 'deliver', phone });
  expect(receivedOf(me.customer).map(({ event }) => event.type)).toContain('invoice.payment_failed');

  await me.advance(6 * 86_400);
  expect((await me.current()).status).toBe('unpaid');
  expect((await me.stripe.subscriptions.retrieve(other.subscription.id)).status).toBe('past_due');
});

test('a phone without a customer is refused', async () => {
  const me = await newPerson();
  const stranger = '+15550100999';
  for (const [method, path, body] of [
    ['POST', '/clock', { advanceSeconds: 60 }],
    ['PUT', '/settings', { retries: 'five-days' }],
    ['PUT', '/webhooks', { mode: 'hold' }],
  ] as const) {
    expect(await me.control(method, path, { ...body, phone: stranger }), path).toHaveProperty('error');
  }
  expect(await me.control('GET', '/settings')).toEqual({ retries: 'two-weeks', afterRetries: 'cancel' });
});
