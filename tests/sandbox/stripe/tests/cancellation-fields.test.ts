import { expect, test } from 'vitest';
import { idOf, newPerson } from './subscriber.ts';
import { requestOf } from './request.ts';
import { week } from './start-stripe.ts';

test('a scheduled end keeps the time of its request, also if the subscription ends sooner', async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('basic');
  const planned = await me.stripe.subscriptions.update(id, { cancel_at_period_end: true });
  const asked = planned.canceled_at;
  expect(planned).toMatchObject({
    status: 'active',
    cancel_at_period_end: true,
    cancel_at: items.data[0]?.current_period_end,
    ended_at: null,
    cancellation_details: { reason: 'cancellation_requested' },
  });
  const now = await me.advance(1000);
  const ended = await me.stripe.subscriptions.cancel(id);
  expect(ended).toMatchObject({ status: 'canceled', cancel_at: null, cancel_at_period_end: false, canceled_at: asked });
  expect(Number(ended.ended_at)).toBeGreaterThanOrEqual(now);
  expect(ended.items.data[0]?.current_period_end).toBe(items.data[0]?.current_period_end);
  const late = await requestOf(me)('POST', `/v1/subscriptions/${id}`, 'description=late');
  expect([late.body.error.code, late.body.error.param]).toEqual(['invalid_canceled_subscription_fields', undefined]);
  expect((await me.stripe.subscriptions.update(id, { metadata: { a: 'b' } })).metadata).toMatchObject({ a: 'b' });
});

test('a scheduled end takes place with its fields', async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('basic');
  const end = items.data[0]?.current_period_end;
  await me.stripe.subscriptions.update(id, { cancel_at_period_end: true });
  await me.advance(week + 60);
  expect(await me.current()).toMatchObject({
    status: 'canceled',
    cancel_at: end,
    cancel_at_period_end: true,
    ended_at: end,
  });
});

test('a trial without a card creates a setup intent, and cannot be invoiced through the API', async () => {
  const me = await newPerson();
  const items = [{ price: me.catalogue.prices.basic }];
  const trial = { customer: me.customer, items, trial_period_days: 14 };
  const waiting = await me.stripe.subscriptions.create(trial);
  expect(waiting.pending_setup_intent).toMatch(/^seti_/);
  await expect(me.stripe.subscriptions.update(waiting.id, { trial_end: 'now' })).rejects.toMatchObject({
    statusCode: 400,
    message: expect.stringContaining('payment source'),
  });
  await me.stripe.setupIntents.confirm(idOf(waiting.pending_setup_intent), { payment_method: 'pm_card_visa' });
  expect((await me.stripe.subscriptions.retrieve(waiting.id)).pending_setup_intent).toBeNull();
  const settings = { end_behavior: { missing_payment_method: 'cancel' } } as const;
  const bare = await me.stripe.customers.create();
  const ending = await me.stripe.subscriptions.create({ ...trial, customer: bare.id, trial_settings: settings });
  const ended = await me.stripe.subscriptions.update(ending.id, { trial_end: 'now' });
  expect(ended.status).toBe('canceled');
});

test('a portal has one price for each product and interval', async () => {
  const me = await newPerson();
  const { product } = await me.stripe.prices.retrieve(me.catalogue.prices.basic);
  const recurring = (interval: 'month' | 'week') => ({
    product: idOf(product),
    currency: 'usd',
    unit_amount: 1299,
    recurring: { interval },
  });
  const dearer = await me.stripe.prices.create(recurring('week'));
  const monthly = await me.stripe.prices.create(recurring('month'));
  const offering = (prices: string[]) =>
    me.stripe.billingPortal.configurations.create({
      features: {
        payment_method_update: { enabled: true },
        subscription_update: {
          enabled: true,
          default_allowed_updates: ['price'],
          products: [{ product: idOf(product), prices }],
        },
      },
    });
  await expect(offering([me.catalogue.prices.basic, dearer.id])).rejects.toMatchObject({ statusCode: 400 });
  const { id, features } = await offering([me.catalogue.prices.basic, monthly.id]);
  expect(features.subscription_update).not.toHaveProperty('products');
  const expand = ['features.subscription_update.products'];
  const whole = await me.stripe.billingPortal.configurations.retrieve(id, { expand });
  expect(whole.features.subscription_update.products?.[0]?.prices).toEqual([me.catalogue.prices.basic, monthly.id]);
});

test("a webhook endpoint without a version gets the account's", async () => {
  const me = await newPerson();
  const endpoint = await me.stripe.webhookEndpoints.create({ url: 'https://other.test/hook', enabled_events: ['*'] });
  expect(endpoint.api_version).toBeNull();
  const [listed] = (await me.stripe.webhookEndpoints.list({ limit: 1 })).data;
  expect(listed).toMatchObject({ id: endpoint.id, status: 'enabled' });
  expect(listed).not.toHaveProperty('secret');
});
