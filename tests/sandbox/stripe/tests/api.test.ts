import { afterEach, expect, test, vi } from 'vitest';
import { openStore } from '../../store.ts';
import { indexDelayMs } from '../customers.ts';
import { newPerson, phone, requestOf, startStripe } from './local-stripe.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('refuses another version of the API, and unknown addresses', async () => {
  const me = await newPerson();
  const { status, body } = await requestOf(me)('GET', '/v1/customers', '', { version: '2020-08-27' });
  expect([status, body.error.message]).toEqual([400, 'Invalid Stripe API version: 2020-08-27']);
  expect((await requestOf(me)('GET', '/v1/unknown')).status).toBe(404);
});

test('lists come in pages, newest first, and their cursor may name a deleted object', async () => {
  const { stripe } = await newPerson();
  const email = 'p@example.com';
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) ids.unshift((await stripe.customers.create({ email })).id);
  await stripe.customers.del(ids[2]!);
  const page = async (limit: number, starting_after: string) => {
    const { data, has_more: hasMore } = await stripe.customers.list({ email, limit, starting_after });
    return [data.map(({ id }) => id), hasMore];
  };
  expect(await page(1, ids[2]!)).toEqual([[ids[3]], true]);
  expect(await page(5, ids[2]!)).toEqual([[ids[3], ids[4]], false]);
  expect(await stripe.customers.list({ email, limit: 2 }).autoPagingToArray({ limit: 50 })).toHaveLength(4);
  const lists = [stripe.customers.list({ email, limit: 0 }), stripe.customers.list({ email, limit: 500 })];
  expect((await Promise.all(lists)).map(({ data }) => data.length)).toEqual([1, 4]);
});

test('ids become objects along the paths of expand', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  const paid = 'latest_invoice.payments.data.payment.payment_intent';
  const expand = [paid, 'customer', 'items.data.price.product', 'schedule'];
  const payment_intent = { object: 'payment_intent', status: 'succeeded' };
  expect(await me.stripe.subscriptions.retrieve(id, { expand })).toMatchObject({
    latest_invoice: { payments: { data: [{ payment: { payment_intent } }] } },
    customer: { id: me.customer, metadata: { phone } },
    items: { data: [{ price: { product: { name: 'basic' } } }] },
    schedule: null,
  });
});

test('search finds customers by their metadata, after the delay of the index', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { stripe } = await newPerson();
  const passDelay = () => vi.setSystemTime(Date.now() + indexDelayMs);
  const find = async (userId: string) => {
    const { data } = await stripe.customers.search({ query: `metadata['userId']:'${userId}'` });
    return data.map((found) => found.id);
  };
  const { id } = await stripe.customers.create({ metadata: { userId: 'u-1' } });
  expect(await find('u-1')).toEqual([]);
  passDelay();
  expect(await find('u-1')).toEqual([id]);
  await stripe.customers.update(id, { metadata: { userId: 'u-3' } });
  expect([await find('u-1'), await find('u-3')]).toEqual([[id], []]);
  await stripe.customers.del(id);
  passDelay();
  expect(await find('u-3')).toEqual([]);
});

test('everything is still there after a restart', async () => {
  const store = openStore(':memory:');
  const me = await newPerson({ store });
  const { id } = await me.subscribe('basic');
  const now = await me.advance(1000);
  await me.stop();
  const again = await startStripe({ store });
  expect((await again.stripe.subscriptions.retrieve(id)).status).toBe('active');
  expect(Number((await again.control('GET', '/clock'))['now'])).toBeGreaterThanOrEqual(now);
});

test('an idempotency key is for one request, and stores errors but for refused parameters', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  for (const [form, key, status] of [
    ['colour=red', 'a', 400],
    ['name=red', 'a', 200],
    ['name=blue', 'a', 400],
    ['name=red', '', 400],
    ['name=red', 'k'.repeat(255), 200],
    ['name=red', 'k'.repeat(256), 400],
  ] as const) {
    expect([form, key, (await request('POST', '/v1/customers', form, { key })).status]).toEqual([form, key, status]);
  }
  expect((await request('POST', '/v1/products', 'name=red', { key: 'a' })).body.error.type).toBe('idempotency_error');

  const order = `customer=${me.customer}&items[0][price]=${me.catalogue.prices.basic}`;
  const refused = await request('POST', '/v1/subscriptions', order, { key: 'b' });
  expect(refused.body.error.message).toContain('no attached payment source');
  await me.saveCard('pm_card_visa');
  const again = await request('POST', '/v1/subscriptions', order, { key: 'b' });
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([400, 'true']);
  expect((await request('POST', '/v1/subscriptions', order, { key: 'c' })).status).toBe(200);
});
