import { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { openStore } from '../../store.ts';
import { idOf, newPerson, phone } from './subscriber.ts';

test('a key repeats its response, and refuses another request', async () => {
  const { stripe } = await newPerson();
  const idempotencyKey = 'cust:1';
  const first = await stripe.customers.create({ email: 'a@example.com' }, { idempotencyKey });
  const again = await stripe.customers.create({ email: 'a@example.com' }, { idempotencyKey });
  expect(again.id).toBe(first.id);
  expect(again.lastResponse.headers['idempotent-replayed']).toBe('true');
  const other = stripe.customers.create({ email: 'b@example.com' }, { idempotencyKey });
  await expect(other).rejects.toMatchObject({ type: 'StripeIdempotencyError', statusCode: 400 });
  await expect(stripe.products.create({ name: 'x' }, { idempotencyKey })).rejects.toThrow('same parameters');
  expect((await stripe.customers.list({ email: 'a@example.com' })).data).toHaveLength(1);
});

test('lists come in pages, newest first, both ways', async () => {
  const { stripe } = await newPerson();
  const ids: string[] = [];
  for (let count = 0; count < 7; count++) ids.unshift((await stripe.customers.create({ email: 'p@example.com' })).id);
  const first = await stripe.customers.list({ email: 'p@example.com', limit: 3 });
  expect([first.data.map(({ id }) => id), first.has_more]).toEqual([ids.slice(0, 3), true]);
  const last = await stripe.customers.list({ email: 'p@example.com', limit: 5, starting_after: ids[2] ?? '' });
  expect([last.data.map(({ id }) => id), last.has_more]).toEqual([ids.slice(3), false]);
  const before = await stripe.customers.list({ email: 'p@example.com', limit: 2, ending_before: ids[4] ?? '' });
  expect([before.data.map(({ id }) => id), before.has_more]).toEqual([ids.slice(2, 4), true]);
  expect(
    await stripe.customers.list({ email: 'p@example.com', limit: 2 }).autoPagingToArray({ limit: 50 }),
  ).toHaveLength(7);
  const lists = [stripe.customers.list({ limit: 0 }), stripe.customers.list({ limit: 500 })];
  expect((await Promise.all(lists)).map(({ data }) => data.length)).toEqual([1, 8]);
});

test('ids become objects along the paths of expand', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  const expand = [
    'latest_invoice.payments.data.payment.payment_intent',
    'customer',
    'items.data.price.product',
    'schedule',
  ];
  const subscription = await me.stripe.subscriptions.retrieve(id, { expand });
  const invoice = subscription.latest_invoice as Stripe.Invoice;
  expect(invoice.payments?.data[0]?.payment.payment_intent).toMatchObject({
    object: 'payment_intent',
    status: 'succeeded',
  });
  expect(subscription.customer).toMatchObject({ id: me.customer, metadata: { phone } });
  expect(subscription.items.data[0]?.price.product).toMatchObject({ name: 'Basic' });
  const customer = (await me.stripe.customers.retrieve(me.customer, { expand: ['subscriptions'] })) as Stripe.Customer;
  expect(customer.subscriptions?.data[0]?.id).toBe(id);
  await expect(me.stripe.subscriptions.retrieve(id, { expand: ['nothing'] })).rejects.toThrow('cannot be expanded');
  await expect(me.stripe.subscriptions.retrieve(id, { expand: ['a.b.c.d.e'] })).rejects.toThrow('more than 4 levels');
});

test('refuses what Stripe does not know, in its own words', async () => {
  const { stripe, url, customer, catalogue, checkout } = await newPerson();
  const unknown = { nickname: 'x', invoice_settings: { colour: 'red' } } as Stripe.CustomerUpdateParams;
  await expect(stripe.customers.update(customer, unknown)).rejects.toMatchObject({
    code: 'parameter_unknown',
    param: 'nickname',
  });
  await expect(stripe.customers.retrieve('cus_0')).rejects.toMatchObject({
    statusCode: 404,
    code: 'resource_missing',
    param: 'id',
  });
  await expect(checkout('basic', { customer: 'cus_0' })).rejects.toMatchObject({
    statusCode: 400,
    code: 'resource_missing',
    param: 'customer',
  });
  await expect(checkout('basic', { payment_method_types: ['card'] } as object)).rejects.toMatchObject({
    code: 'parameter_unknown',
  });
  const items = [{ price: catalogue.prices.basic, quantity: 'many' as unknown as number }];
  await expect(stripe.subscriptions.create({ customer, items })).rejects.toMatchObject({ param: 'items[0][quantity]' });
  const taken = { product: 'prod_0', currency: 'usd', unit_amount: 1 };
  await expect(stripe.prices.create(taken)).rejects.toMatchObject({ param: 'product' });
  await expect(stripe.prices.update(catalogue.prices.basic, { unit_amount: 5 } as object)).rejects.toMatchObject({
    code: 'parameter_unknown',
  });

  const stranger = await fetch(`${url}/v1/customers`, { headers: { authorization: 'Bearer sk_test_other' } });
  expect([stranger.status, stranger.headers.get('request-id')]).toEqual([401, expect.stringMatching(/^req_/)]);
  const basic = await fetch(`${url}/v1/customers`, { headers: { authorization: `Basic ${btoa('sk_test_local:')}` } });
  expect([basic.status, basic.headers.get('stripe-version')]).toEqual([200, Stripe.API_VERSION]);
  const nowhere = await fetch(`${url}/v1/unknown`, { headers: { authorization: 'Bearer sk_test_local' } });
  expect(nowhere.status).toBe(404);
});

test('a lookup key moves to a new price only when asked', async () => {
  const { stripe, catalogue } = await newPerson();
  const { product } = await stripe.prices.retrieve(catalogue.prices.basic);
  const price = {
    product: idOf(product),
    currency: 'usd',
    unit_amount: 1299,
    recurring: { interval: 'week' },
    lookup_key: 'basic_weekly',
  } as const;
  await expect(stripe.prices.create(price)).rejects.toMatchObject({ param: 'lookup_key' });
  const { id } = await stripe.prices.create({ ...price, transfer_lookup_key: true });
  const { data } = await stripe.prices.list({ lookup_keys: ['basic_weekly', 'premium_weekly'], active: true });
  expect(data.map((price) => price.id)).toEqual([id, catalogue.prices.premium]);
  expect((await stripe.prices.retrieve(catalogue.prices.basic)).lookup_key).toBeNull();
});

test('everything is still there after a restart', async () => {
  const store = openStore(':memory:');
  const me = await newPerson({ store });
  const { id } = await me.subscribe('basic');
  const now = await me.advance(1000);
  me.stop();
  const { startStripe } = await import('./start-stripe.ts');
  const again = await startStripe({ store });
  expect((await again.stripe.subscriptions.retrieve(id)).status).toBe('active');
  expect(Number((await again.control('GET', '/clock'))['now'])).toBeGreaterThanOrEqual(now);
});
