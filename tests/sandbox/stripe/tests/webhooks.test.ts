import { expect, test, vi } from 'vitest';
import { newPerson, phone } from './subscriber.ts';
import { webhookSecret, week } from './start-stripe.ts';

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
  await vi.waitFor(() => expect(me.receivedTypes()).toContain('customer.subscription.created'), { timeout: 5000 });
});

test('an endpoint receives its subscribed events, and its secret is shown once', async () => {
  const me = await newPerson();
  const { data } = await me.stripe.webhookEndpoints.list();
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
