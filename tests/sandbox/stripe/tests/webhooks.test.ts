import { expect, test, vi } from 'vitest';
import { newPerson, phone, webhookSecret, week, draftHour } from './local-stripe.ts';

test('events are signed with the real time, however far the clock was advanced', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  const now = await me.advance(10 * week);
  for (const { body, signature, event } of me.shop.received) expect(me.verify(body, signature)).toEqual(event);
  const last = me.shop.received.at(-1)?.event;
  expect(last?.created).toBeGreaterThan(now - 4 * week);
  expect(last).toMatchObject({ api_version: '2026-10-28.endive', livemode: false, request: { id: null } });
  const [first] = me.shop.received;
  expect(() => me.verify(` ${first?.body}`, first?.signature ?? '')).toThrow();
});

test('an update contains the previous values', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  await me.stripe.subscriptions.update(id, { metadata: { note: 'kept' } }, { idempotencyKey: 'note' });
  await me.advance(0);
  const { event } = me.shop.received.at(-1) ?? {};
  expect(event).toMatchObject({
    type: 'customer.subscription.updated',
    request: { id: expect.stringMatching(/^req_/), idempotency_key: 'note' },
  });
  expect(event?.data.previous_attributes).toEqual({ metadata: { note: null } });
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
  const { sent } = await me.control('POST', '/webhooks/redeliver', { order: 'reversed', times: 2, phone });
  expect(sent).toBe(me.shop.received.length);
  expect(await me.control('POST', '/webhooks/redeliver', { phone: '+15550000000' })).toEqual({ sent: 0 });
  const round = me.shop.received.slice(0, Number(sent) / 2).map(({ event }) => event.id);
  expect(round.filter((id) => original.includes(id)).toReversed()).toEqual(original);
});

test('an event is sent again until the endpoint accepts it', async () => {
  const me = await newPerson();
  me.shop.state.status = 500;
  await me.subscribe('basic');
  await me.advance(0);
  expect(me.shop.received).toHaveLength(0);
  me.shop.state.status = 200;
  await vi.waitFor(() => expect(me.receivedTypes()).toContain('customer.subscription.created'), { timeout: 30_000 });
});

test('an endpoint receives its subscribed events, and its secret is shown once', async () => {
  const me = await newPerson();
  const { data } = await me.stripe.webhookEndpoints.list();
  expect(data[0]).toMatchObject({ api_version: null, status: 'enabled' });
  await me.stripe.webhookEndpoints.del(data[0]?.id ?? '');
  const url = `${me.shop.url}/other`;
  const created = await me.stripe.webhookEndpoints.create({
    url,
    enabled_events: ['invoice.paid'],
    api_version: '2026-10-28.endive',
  });
  expect(created.secret).toBe(webhookSecret);
  expect((await me.stripe.webhookEndpoints.list()).data[0]).not.toHaveProperty('secret');
  await me.advance(0);
  me.shop.received.length = 0;
  await me.subscribe('basic');
  await me.advance(0);
  expect(me.receivedTypes()).toEqual(['invoice.paid']);
  await me.stripe.webhookEndpoints.update(created.id, { disabled: true });
  await me.advance(week + 60);
  expect(me.receivedTypes()).toEqual(['invoice.paid']);
});

test('a hundred customers renew at once, each with events in order', async () => {
  const me = await newPerson();
  const items = [{ price: me.catalogue.prices.basic }];
  for (let count = 0; count < 100; count++) {
    const { id: customer } = await me.stripe.customers.create({
      metadata: { phone: `+1555020${String(count).padStart(4, '0')}` },
    });
    const method = await me.stripe.paymentMethods.attach('pm_card_visa', { customer });
    await me.stripe.subscriptions.create({ customer, items, default_payment_method: method.id });
  }
  await me.advance(0);
  me.shop.received.length = 0;
  await me.advance(2 * week + draftHour + 60);
  const times = new Map<string, number[]>();
  for (const { event } of me.shop.received) {
    const { customer } = event.data.object as { customer?: string };
    if (customer) times.set(customer, [...(times.get(customer) ?? []), event.created]);
  }
  expect(times.size).toBe(100);
  for (const moments of times.values()) expect(moments).toEqual(moments.toSorted((one, other) => one - other));
  expect(me.receivedTypes().filter((type) => type === 'invoice.paid')).toHaveLength(200);
});

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
