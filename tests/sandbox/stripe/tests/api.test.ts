import { expect, test } from 'vitest';
import { newPerson, requestOf, idOf, phone, startStripe } from './local-stripe.ts';
import { Stripe } from 'stripe';
import { openStore } from '../../store.ts';
import { createIdempotency } from '../api/idempotency.ts';

const nobody = 'cus_Nobody000000';

test('names the missing object of an address with 404, and a parameter with 400 but for two calls', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const { prices } = me.catalogue;
  const urls = 'success_url=https://a.test&cancel_url=https://a.test';
  const item = `items[0][price]=${prices.basic}`;
  const refusals: [string, string, string, number, string][] = [
    ['GET', `/v1/customers/${nobody}`, '', 404, 'id'],
    ['GET', `/v1/customers/${nobody}/payment_methods`, '', 404, 'id'],
    ['GET', '/v1/payment_methods', `customer=${nobody}&type=card`, 400, 'customer'],
    ['GET', '/v1/subscriptions', `customer=${nobody}&status=all`, 400, 'customer'],
    ['GET', '/v1/invoices', `customer=${nobody}`, 400, 'customer'],
    ['GET', '/v1/checkout/sessions', `customer=${nobody}`, 400, 'customer'],
    ['GET', '/v1/subscription_schedules', `customer=${nobody}`, 400, 'customer'],
    ['GET', '/v1/charges', `customer=${nobody}`, 400, 'customer'],
    ['POST', '/v1/invoices', `customer=${nobody}`, 400, 'customer'],
    ['POST', '/v1/billing_portal/sessions', `customer=${nobody}`, 400, 'customer'],
    ['POST', '/v1/checkout/sessions', `mode=setup&currency=usd&customer=${nobody}&${urls}`, 400, 'customer'],
    ['POST', '/v1/subscriptions', `customer=${nobody}&${item}`, 404, 'customer'],
    ['POST', '/v1/subscriptions', `customer=${me.customer}&items[0][price]=price_0`, 400, 'items[0][price]'],
    ['POST', '/v1/payment_methods/pm_0/attach', `customer=${me.customer}`, 404, 'payment_method'],
    ['POST', '/v1/refunds', 'charge=ch_0', 404, 'id'],
    ['GET', '/v1/disputes/du_0', '', 404, 'dispute'],
    ['GET', '/v1/invoices/in_0', '', 404, 'invoice'],
    ['POST', '/v1/invoices/in_0/pay', '', 404, 'id'],
    ['GET', '/v1/prices/price_0', '', 404, 'price'],
    ['POST', '/v1/setup_intents/seti_0/confirm', '', 404, 'intent'],
  ];
  for (const [method, path, form, status, param] of refusals) {
    const { status: got, body } = await request(method, path, form);
    expect([path, got, body.error.code, body.error.param]).toEqual([path, status, 'resource_missing', param]);
  }
});

test('a deleted customer is a stub, has no cards, and is unknown to new requests', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const { id } = await me.stripe.paymentMethods.attach('pm_card_visa', { customer: me.customer });
  await me.stripe.customers.del(me.customer);
  const { body } = await request('GET', `/v1/customers/${me.customer}`);
  expect(body).toEqual({ id: me.customer, object: 'customer', deleted: true });
  expect((await request('GET', '/v1/payment_methods', `customer=${me.customer}`)).status).toBe(400);
  expect((await request('GET', '/v1/subscriptions', `customer=${me.customer}&status=all`)).status).toBe(200);
  const again = await request('POST', `/v1/payment_methods/${id}/attach`, `customer=${me.customer}`);
  expect([again.status, again.body.error.param]).toEqual([400, 'customer']);
  const events = await request('GET', '/v1/events', 'type=customer.deleted');
  expect(events.body.data[0].data.object).toMatchObject({ id: me.customer, metadata: { phone: expect.any(String) } });
  expect(events.body.data[0].data.object).not.toHaveProperty('deleted');
});

test('refuses what is no parameter, no integer, no choice and no address', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const order = `customer=${me.customer}&items[0][price]=${me.catalogue.prices.basic}&items[0][quantity]=many`;
  const refusals: [string, string, object][] = [
    ['POST /v1/customers', 'colour=red', { code: 'parameter_unknown', param: 'colour' }],
    ['POST /v1/customers', 'invoice_settings[x]=1', { code: 'parameter_unknown', param: 'invoice_settings[x]' }],
    ['POST /v1/customers', 'email=nowhere', { code: 'email_invalid', param: 'email' }],
    [
      'GET /v1/customers',
      'limit=abc',
      { code: 'parameter_invalid_integer', param: 'limit', message: 'Invalid integer: abc' },
    ],
    ['GET /v1/customers', 'starting_after=cus_0', { code: 'resource_missing', param: 'starting_after' }],
    ['POST /v1/subscriptions', order, { param: 'items[0][quantity]' }],
    ['POST /v1/prices', 'product=prod_0&currency=usd&unit_amount=1', { param: 'product' }],
    [`POST /v1/prices/${me.catalogue.prices.basic}`, 'unit_amount=5', { code: 'parameter_unknown' }],
    ['POST /v1/products', '', { code: 'parameter_missing', param: 'name' }],
    [
      'GET /v1/invoices',
      'status=x',
      { message: 'Invalid status: must be one of draft, open, paid, uncollectible, or void' },
    ],
    [
      'POST /v1/checkout/sessions',
      `mode=setup&currency=usd&customer=${me.customer}&success_url=http://site.test&locale=es-MX`,
      { param: 'locale', message: expect.stringMatching(/^Invalid locale: must be one of auto, bg, .*, or zh-TW$/) },
    ],
    ['POST /v1/billing_portal/sessions', `customer=${me.customer}&locale=hi-IN`, { param: 'locale' }],
    ['POST /v1/refunds', '', { message: expect.stringContaining('payment_intent or charge') }],
  ];
  for (const [call, form, error] of refusals) {
    const [method = '', path = ''] = call.split(' ');
    const { status, body } = await request(method, path, form);
    expect([call, form, status]).toEqual([call, form, 400]);
    expect(body.error).toMatchObject({ type: 'invalid_request_error', ...error });
  }
});

test('refuses a wrong key with 401 and another API version with 400', async () => {
  const request = requestOf(await newPerson());
  const stranger = await request('GET', '/v1/customers', '', { secret: 'sk_test_other' });
  expect([stranger.status, stranger.body.error.type]).toEqual([401, 'invalid_request_error']);
  expect(stranger.body.error).not.toHaveProperty('code');
  const { status, body } = await request('GET', '/v1/customers', '', { version: '2020-08-27' });
  expect([status, body.error.message]).toEqual([400, 'Invalid Stripe API version: 2020-08-27']);
  expect((await request('GET', '/v1/customers', '', { version: '2026-10-28.endive' })).status).toBe(200);
});

test('a cursor may name a deleted object, and both cursors at once are refused', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) ids.push((await me.stripe.customers.create({ email: 'c@example.test' })).id);
  const [oldest = '', middle = '', newest = ''] = ids;
  await me.stripe.customers.del(middle);
  const after = await request('GET', '/v1/customers', `email=c@example.test&starting_after=${middle}`);
  expect(after.body.data.map(({ id }: { id: string }) => id)).toEqual([oldest]);
  const before = await request('GET', '/v1/customers', `email=c@example.test&ending_before=${middle}`);
  expect(before.body.data.map(({ id }: { id: string }) => id)).toEqual([newest]);
  const both = await request('GET', '/v1/customers', `starting_after=${oldest}&ending_before=${newest}`);
  expect([both.status, both.body.error.code]).toEqual([400, undefined]);
});

test('an expansion that is impossible is refused, and nothing is written', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  const { status, body } = await request('POST', '/v1/customers', 'email=e@example.test&expand[]=nonsense');
  expect([status, body.error.message]).toEqual([
    400,
    "This property cannot be expanded because it doesn't exist: nonsense.",
  ]);
  expect((await me.stripe.customers.list({ email: 'e@example.test' })).data).toEqual([]);
  const list = await request('GET', '/v1/subscriptions', 'expand[]=customer');
  expect(list.body.error.message).toContain("try expanding 'data.customer' instead");
});

test('automatic tax needs to know where the customer lives', async () => {
  const me = await newPerson();
  const taxed = { automatic_tax: { enabled: true } };
  const refused = { statusCode: 400, code: 'customer_tax_location_invalid' };
  await expect(me.checkout('basic', taxed)).rejects.toMatchObject(refused);
  await me.checkout('basic', { ...taxed, customer_update: { address: 'auto' } });
  await me.stripe.paymentMethods.attach('pm_card_visa', { customer: me.customer });
  const items = [{ price: me.catalogue.prices.basic }];
  const order = { customer: me.customer, items, payment_behavior: 'default_incomplete', ...taxed } as const;
  await expect(me.stripe.subscriptions.create(order)).rejects.toMatchObject(refused);
  await me.stripe.customers.update(me.customer, { address: { country: 'US', postal_code: '94110' } });
  expect((await me.stripe.subscriptions.create(order)).automatic_tax.enabled).toBe(true);
  expect((await me.checkout('basic', taxed)).automatic_tax.enabled).toBe(true);
});

test('lists come in pages, newest first, both ways', async () => {
  const { stripe } = await newPerson();
  const email = 'p@example.com';
  const ids: string[] = [];
  for (let count = 0; count < 7; count++) ids.unshift((await stripe.customers.create({ email })).id);
  const page = async (params: Stripe.CustomerListParams) => {
    const { data, has_more: hasMore } = await stripe.customers.list({ email, ...params });
    return [data.map(({ id }) => id), hasMore];
  };
  expect(await page({ limit: 3 })).toEqual([ids.slice(0, 3), true]);
  expect(await page({ limit: 5, starting_after: ids[2]! })).toEqual([ids.slice(3), false]);
  expect(await page({ limit: 2, ending_before: ids[4]! })).toEqual([ids.slice(2, 4), true]);
  expect(await stripe.customers.list({ email, limit: 2 }).autoPagingToArray({ limit: 50 })).toHaveLength(7);
  const lists = [stripe.customers.list({ limit: 0 }), stripe.customers.list({ limit: 500 })];
  expect((await Promise.all(lists)).map(({ data }) => data.length)).toEqual([1, 8]);
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
    items: { data: [{ price: { product: { name: 'Basic' } } }] },
  });
  const customer = await me.stripe.customers.retrieve(me.customer, { expand: ['subscriptions'] });
  expect(customer).toMatchObject({ subscriptions: { data: [{ id }] } });
  await expect(me.stripe.subscriptions.retrieve(id, { expand: ['nothing'] })).rejects.toThrow('cannot be expanded');
  await expect(me.stripe.subscriptions.retrieve(id, { expand: ['a.b.c.d.e'] })).rejects.toThrow('more than 4 levels');
});

test('a key may be the user name of Basic, and an unknown address is a 404', async () => {
  const { url } = await newPerson();
  const basic = await fetch(`${url}/v1/customers`, { headers: { authorization: `Basic ${btoa('sk_test_local:')}` } });
  expect([basic.status, basic.headers.get('stripe-version')]).toEqual([200, Stripe.API_VERSION]);
  const nowhere = await fetch(`${url}/v1/unknown`, { headers: { authorization: 'Bearer sk_test_local' } });
  expect([nowhere.status, nowhere.headers.get('request-id')]).toEqual([404, expect.stringMatching(/^req_/)]);
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
  const again = await startStripe({ store });
  expect((await again.stripe.subscriptions.retrieve(id)).status).toBe('active');
  expect(Number((await again.control('GET', '/clock'))['now'])).toBeGreaterThanOrEqual(now);
});

test('a repeated request gets the first response again', async () => {
  const request = requestOf(await newPerson());
  const first = await request('POST', '/v1/customers', 'email=a@example.test', { key: 'one' });
  const again = await request('POST', '/v1/customers', 'email=a@example.test', { key: 'one' });
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.headers.get('idempotency-key')).toBe('one');
  expect(again.headers.get('original-request')).toBe(first.headers.get('request-id'));
  expect(first.headers.get('idempotent-replayed')).toBeNull();
});

test('another request under the same key is refused', async () => {
  const request = requestOf(await newPerson());
  await request('POST', '/v1/customers', 'email=a@example.test', { key: 'one' });
  for (const [path, form] of [
    ['/v1/customers', 'email=b@example.test'],
    ['/v1/products', 'name=x'],
  ] as const) {
    const { status, body } = await request('POST', path, form, { key: 'one' });
    expect([status, body.error.type, body.error.code]).toEqual([400, 'idempotency_error', undefined]);
  }
});

test.each([
  ['', 400],
  ['k'.repeat(255), 200],
  ['k'.repeat(256), 400],
])('a key has 1 to 255 characters: %s', async (key, status) => {
  const request = requestOf(await newPerson());
  expect((await request('POST', '/v1/customers', 'email=a@example.test', { key })).status).toBe(status);
});

test('refused parameters are not stored, later errors are', async () => {
  const me = await newPerson();
  const request = requestOf(me);
  expect((await request('POST', '/v1/customers', 'colour=red', { key: 'a' })).status).toBe(400);
  expect((await request('POST', '/v1/customers', 'name=red', { key: 'a' })).status).toBe(200);

  const order = `customer=${me.customer}&items[0][price]=${me.catalogue.prices.basic}`;
  const refused = await request('POST', '/v1/subscriptions', order, { key: 'b' });
  expect(refused.body.error.message).toContain('no attached payment source');
  const { id } = await me.stripe.paymentMethods.attach('pm_card_visa', { customer: me.customer });
  await me.stripe.customers.update(me.customer, { invoice_settings: { default_payment_method: id } });
  const again = await request('POST', '/v1/subscriptions', order, { key: 'b' });
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([400, 'true']);
  expect((await request('POST', '/v1/subscriptions', order, { key: 'c' })).status).toBe(200);
});

test('a key whose first request still runs is in use', async () => {
  const once = createIdempotency(openStore(':memory:'));
  const request = { id: null, key: 'slow', path: 'POST /v1/customers', text: '' };
  const finish = Promise.withResolvers<void>();
  const first = once(request, async () => (await finish.promise, { status: 200, body: { id: 'cus_1' } }));
  expect(await once(request, async () => ({ status: 200, body: {} }))).toMatchObject({
    status: 409,
    body: { error: { type: 'idempotency_error', code: 'idempotency_key_in_use' } },
  });
  finish.resolve();
  expect(await first).toEqual({ status: 200, body: { id: 'cus_1' } });
  const replayed = await once(request, async () => ({ status: 500, body: {} }));
  expect(replayed).toEqual({ status: 200, body: { id: 'cus_1' }, replayOf: null });
});
