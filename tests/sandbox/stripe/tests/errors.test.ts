import { expect, test } from 'vitest';
import { newPerson } from './subscriber.ts';
import { requestOf } from './request.ts';

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
  const request = requestOf(await newPerson());
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
    ['POST /v1/products', '', { code: 'parameter_missing', param: 'name' }],
    [
      'GET /v1/invoices',
      'status=x',
      { message: 'Invalid status: must be one of draft, open, paid, uncollectible, or void' },
    ],
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
