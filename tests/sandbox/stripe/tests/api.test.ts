import { afterEach, expect, test, vi } from 'vitest';
import { Stripe } from 'stripe';
import { indexDelayMs } from '../customers.ts';
import {
  clientOf,
  newPerson,
  phone,
  requestOf,
  draftHour,
  webhookSecret,
  week,
} from './local-stripe.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('refuses another version of the API, and unknown addresses', async () => {
  const me = await newPerson();
  const { status, json } = await requestOf(me)('GET', '/v1/customers', '', {
    'stripe-version': '2020-08-27',
  });
  expect([status, json.error.message]).toEqual([400, 'Invalid Stripe API version: 2020-08-27']);
  expect((await requestOf(me)('GET', '/v1/unknown')).status).toBe(404);
});

test('lists come in pages, newest first, and their cursor may name a deleted object', async () => {
  const { stripe } = await newPerson();
  const email = 'p@example.com';
  const ids: string[] = [];
  for (let count = 0; count < 5; count++)
    ids.unshift((await stripe.customers.create({ email })).id);
  await stripe.customers.del(ids[2]!);
  const page = async (limit: number, starting_after: string) => {
    const { data, has_more: hasMore } = await stripe.customers.list({
      email,
      limit,
      starting_after,
    });
    return [data.map(({ id }) => id), hasMore];
  };
  expect(await page(1, ids[2]!)).toEqual([[ids[3]], true]);
  expect(await page(5, ids[2]!)).toEqual([[ids[3], ids[4]], false]);
  expect(
    await stripe.customers
      .list({
        email,
        limit: 2,
      })
      .autoPagingToArray({ limit: 50 }),
  ).toHaveLength(4);
  const lists = [
    stripe.customers.list({ email, limit: 0 }),
    stripe.customers.list({ email, limit: 500 }),
  ];
  expect((await Promise.all(lists)).map(({ data }) => data.length)).toEqual([1, 4]);
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
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  const now = await me.advance(1000);
  await me.sandbox.restart();
  expect((await clientOf(me.sandbox).subscriptions.retrieve(id)).status).toBe('active');
  expect(Number((await me.control('GET', '/clock'))['now'])).toBeGreaterThanOrEqual(now);
});

test('an idempotency key is for one request, and stores errors but for refused parameters', async () => {
  const me = await newPerson();
  const post = (path: string, form: string, key: string) =>
    requestOf(me)('POST', `/v1/${path}`, form, { 'idempotency-key': key });
  for (const [form, key, status] of [
    ['colour=red', 'a', 400],
    ['name=red', 'a', 200],
    ['name=blue', 'a', 400],
    ['name=red', '', 400],
    ['name=red', 'k'.repeat(255), 200],
    ['name=red', 'k'.repeat(256), 400],
  ] as const) {
    expect([form, key, (await post('customers', form, key)).status]).toEqual([form, key, status]);
  }
  expect((await post('products', 'name=red', 'a')).json.error.type).toBe('idempotency_error');

  const order = `customer=${me.customer}&items[0][price]=${me.catalogue.prices.basic}`;
  const refused = await post('subscriptions', order, 'b');
  expect(refused.json.error.message).toContain('no attached payment source');
  await me.saveCard('pm_card_visa');
  const again = await post('subscriptions', order, 'b');
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([400, 'true']);
  expect((await post('subscriptions', order, 'c')).status).toBe(200);
});

test('events are signed with the real time, however far the clock was advanced, and contain the previous values', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  const now = await me.advance(10 * week);
  for (const { body, signature, event } of me.shop.received)
    expect(Stripe.webhooks.constructEvent(body, signature, webhookSecret)).toEqual(event);
  const last = me.shop.received.at(-1)?.event;
  expect(last?.created).toBeGreaterThan(now - 4 * week);
  expect(last).toMatchObject({
    api_version: '2026-10-28.endive',
    livemode: false,
  });

  await me.stripe.subscriptions.update(id, { metadata: { note: 'kept' } });
  await me.advance(0);
  expect(me.shop.received.at(-1)?.event).toMatchObject({
    type: 'customer.subscription.updated',
    data: { previous_attributes: { metadata: { note: null } } },
  });
});

test('held events are sent later; all of them are sent again, in reverse', async () => {
  const me = await newPerson();
  await me.control('PUT', '/webhooks', { mode: 'hold' });
  me.shop.received.length = 0;
  await me.subscribe('basic');
  await me.advance(week + 60);
  expect(me.shop.received).toHaveLength(0);
  expect(await me.control('PUT', '/webhooks', { mode: 'deliver' })).toEqual({ mode: 'deliver' });
  const original = me.shop.received.map(({ event }) => event.id);
  expect(original.length).toBeGreaterThan(10);
  me.shop.received.length = 0;
  const { sent } = await me.control('POST', '/webhooks/redeliver', {
    order: 'reversed',
    times: 2,
    phone,
  });
  expect(sent).toBe(me.shop.received.length);
  expect(await me.control('POST', '/webhooks/redeliver', { phone: '+15550000000' })).toEqual({
    sent: 0,
  });
  const again = me.shop.received.slice(0, Number(sent) / 2).map(({ event }) => event.id);
  expect(again.filter((id) => original.includes(id)).toReversed()).toEqual(original);
});

test('an event is sent again until the endpoint accepts it', async () => {
  const me = await newPerson();
  me.shop.state.status = 500;
  await me.subscribe('basic');
  await me.advance(0);
  expect(me.shop.received).toHaveLength(0);
  me.shop.state.status = 200;
  await vi.waitFor(() => expect(me.receivedTypes()).toContain('customer.subscription.created'), {
    timeout: 30_000,
  });
});

test('an endpoint receives its subscribed events, and its secret is shown once', async () => {
  const me = await newPerson();
  const { data } = await me.stripe.webhookEndpoints.list();
  expect(data).toMatchObject([{ api_version: null, status: 'enabled' }]);
  expect(data[0]).not.toHaveProperty('secret');
  await me.stripe.webhookEndpoints.del(data[0]!.id);
  const order = {
    url: `${me.shop.url}/other`,
    enabled_events: ['invoice.paid'],
  } as const;
  const { id, secret } = await me.stripe.webhookEndpoints.create({
    ...order,
    enabled_events: ['invoice.paid'],
  });
  expect(secret).toBe(webhookSecret);
  await me.advance(0);
  me.shop.received.length = 0;
  await me.subscribe('basic');
  await me.advance(0);
  expect(me.receivedTypes()).toEqual(['invoice.paid']);
  await me.stripe.webhookEndpoints.update(id, { disabled: true });
  await me.advance(week + draftHour + 60);
  expect(me.receivedTypes()).toEqual(['invoice.paid']);
});

const otherPhone = '+15550100124';

/** Another customer of the same merchant, who pays weekly. */
async function addSubscriber(
  { stripe, catalogue }: Awaited<ReturnType<typeof newPerson>>,
  number = otherPhone,
) {
  const { id: customer } = await stripe.customers.create({ metadata: { phone: number } });
  const { id: card } = await stripe.paymentMethods.attach('pm_card_visa', { customer });
  const items = [{ price: catalogue.prices.basic }];
  const { id } = await stripe.subscriptions.create({
    customer,
    items,
    default_payment_method: card,
  });
  return {
    customer,
    id,
    invoices: async () => (await stripe.invoices.list({ customer })).data.length,
  };
}

test('thirty customers renew at once, each with one event after the other', async () => {
  const me = await newPerson();
  for (let count = 10; count < 40; count++) await addSubscriber(me, `+15550200${count}`);
  await me.advance(0);
  me.shop.received.length = 0;
  await me.advance(2 * week + draftHour + 60);
  expect(me.shop.state.overlaps).toBe(0);
  expect(me.receivedTypes().filter((type) => type === 'invoice.paid')).toHaveLength(60);
});

test('time passes for one customer alone, and for everybody beside that', async () => {
  const me = await newPerson();
  const other = await addSubscriber(me);
  const { id } = await me.subscribe('basic');
  const before = Number((await me.control('GET', '/clock'))['now']);
  const now = Number(
    (
      await me.control('POST', '/clock', {
        advanceSeconds: week - 600,
        phone,
      })
    )['now'],
  );
  expect(now).toBeGreaterThanOrEqual(before + week - 600);
  expect(Number((await me.control('GET', '/clock'))['now'])).toBeLessThan(now);
  expect((await me.stripe.invoices.list({ customer: me.customer })).data).toHaveLength(1);
  await me.advance(1200 + draftHour);
  const renewed = (await me.stripe.invoices.list({ customer: me.customer })).data;
  expect(renewed.map(({ status }) => status)).toEqual(['paid', 'paid']);
  expect(renewed[0]!.created).toBeGreaterThan(before + week - 60);
  expect(await other.invoices()).toBe(1);
  expect((await me.stripe.subscriptions.cancel(id)).ended_at).toBeGreaterThanOrEqual(now);
  expect((await me.stripe.subscriptions.cancel(other.id)).ended_at).toBeLessThan(before + week);
});

test('retries and webhooks are set for one customer alone', async () => {
  const me = await newPerson();
  const other = await addSubscriber(me);
  await me.subscribe('basic');
  const own = { retries: 'five-days', afterRetries: 'unpaid' };
  const common = { retries: 'two-weeks', afterRetries: 'cancel' };
  expect(
    await me.control('PUT', '/settings', {
      ...own,
      phone,
    }),
  ).toEqual(own);
  expect(await me.control('PUT', '/settings', {})).toEqual(common);
  await me.control('PUT', '/webhooks', { mode: 'hold', phone });
  me.shop.received.length = 0;
  for (const each of [phone, otherPhone])
    await me.control('POST', `/customers/${each}/card`, { declines: true });
  await me.advance(week + draftHour + 60);
  const receivedOf = (customer: string) =>
    me.shop.received.filter(
      ({ event }) => (event.data.object as { customer?: string }).customer === customer,
    );
  expect(receivedOf(other.customer).map(({ event }) => event.type)).toContain(
    'invoice.payment_failed',
  );
  expect(receivedOf(me.customer)).toEqual([]);
  await me.control('PUT', '/webhooks', { mode: 'deliver', phone });
  expect(receivedOf(me.customer).map(({ event }) => event.type)).toContain(
    'invoice.payment_failed',
  );

  await me.advance(6 * 86_400);
  expect(await me.status()).toBe('unpaid');
  expect((await me.stripe.subscriptions.retrieve(other.id)).status).toBe('past_due');
});

test('refuses unknown settings, and a phone without a customer', async () => {
  const me = await newPerson();
  const stranger = '+15550100999';
  for (const [method, path, body] of [
    ['POST', '/clock', { advanceSeconds: 60, phone: stranger }],
    ['PUT', '/webhooks', { mode: 'hold', phone: stranger }],
    ['PUT', '/settings', { retries: 'five-days', phone: stranger }],
    ['PUT', '/settings', { retries: 'often', phone }],
    ['PUT', '/settings', { afterRetries: 'shrug', phone }],
    ['PUT', '/settings', { speed: 1, phone }],
    ['PUT', '/dashboard', { color: 'red' }],
    ['POST', `/customers/${phone}/authenticate`, { succeeds: true }],
    ['POST', `/customers/${phone}/dispute`, {}],
    ['POST', `/customers/${phone}/card`, { declines: true }],
  ] as const) {
    expect(await me.control(method, path, body), path).toHaveProperty('error');
  }
});
