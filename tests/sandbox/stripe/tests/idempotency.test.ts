import { expect, test } from 'vitest';
import { createIdempotency } from '../api/idempotency.ts';
import { openStore } from '../../store.ts';
import { requestOf, newPerson } from './local-stripe.ts';

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
])('a key has 1 to 255 characters', async (key, status) => {
  const request = requestOf(await newPerson());
  const response = await request('POST', '/v1/customers', 'email=a@example.test', { key });
  expect(response.status).toBe(status);
  if (status === 400) expect(response.body.error.type).toBe('idempotency_error');
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
