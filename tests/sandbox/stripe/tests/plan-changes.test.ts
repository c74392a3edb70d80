import type { Stripe } from 'stripe';
import { expect, test, vi } from 'vitest';
import { idOf, newPerson, requestOf, week } from './local-stripe.ts';

const prorations = ({ lines }: Stripe.Invoice) =>
  lines.data.map(({ parent }) => parent?.subscription_item_details?.proration);

test('a dearer plan applies at once and is charged for the rest of the week', async () => {
  const me = await newPerson();
  const before = await me.subscribe('basic');
  await me.advance(week / 2);
  await me.portal('switch', { price: me.catalogue.prices.premium });
  expect(await me.price()).toBe(me.catalogue.prices.premium);
  const end = before.items.data[0]!.current_period_end;
  expect((await me.current()).items.data[0]!.current_period_end).toBe(end);
  const invoice = await me.invoice();
  expect(invoice).toMatchObject({ billing_reason: 'subscription_update', status: 'paid' });
  expect(Math.abs(invoice.total - (2999 - 1199) / 2)).toBeLessThan(3);
  expect(prorations(invoice)).toEqual([true, true]);
});

test('a dearer plan starts a new week at its whole price where the portal resets the billing cycle', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  const features = { subscription_update: { enabled: true, billing_cycle_anchor: 'now' } } as const;
  await me.stripe.billingPortal.configurations.update(me.catalogue.configuration, { features });
  const now = await me.advance(week / 2);
  // However long Stripe takes, all that a request changes has one date.
  let time = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (time += 1000));
  await me.portal('switch', { price: me.catalogue.prices.premium });
  clock.mockRestore();
  const after = await me.current();
  const { current_period_start: start, current_period_end: end } = after.items.data[0]!;
  expect(start).toBeGreaterThanOrEqual(now);
  expect([end - start, after.billing_cycle_anchor]).toEqual([week, start]);
  const invoice = await me.invoice();
  expect(invoice).toMatchObject({ billing_reason: 'subscription_update', status: 'paid' });
  const [credit, charge] = invoice.lines.data;
  expect(credit!.description).toMatch(/^Unused time on Basic after /);
  expect(Math.abs(credit!.amount + 1199 / 2)).toBeLessThan(3);
  expect(charge).toMatchObject({ amount: 2999, period: { start } });
  expect(prorations(invoice)).toEqual([true, false]);
  expect(invoice.total).toBe(2999 + credit!.amount);
  await me.advance(week + 7200);
  expect((await me.invoices()).map(({ status, total }) => [status, total])).toEqual([
    ['paid', 2999],
    ['paid', invoice.total],
    ['paid', 1199],
  ]);
  expect((await me.current()).id).toBe(id);
});

test('a dearer plan is charged whole where the portal credits no unused time', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  const features = {
    subscription_update: { enabled: true, billing_cycle_anchor: 'now', proration_behavior: 'none' },
  } as const;
  await me.stripe.billingPortal.configurations.update(me.catalogue.configuration, { features });
  await me.advance(week / 2);
  await me.portal('switch', { price: me.catalogue.prices.premium });
  const invoice = await me.invoice();
  expect(invoice).toMatchObject({ status: 'paid', total: 2999 });
  expect(invoice.lines.data.map(({ amount }) => amount)).toEqual([2999]);
});

test('a plan whose charge is declined, or that the subscription has, cannot be chosen, and changes nothing', async () => {
  const me = await newPerson();
  const before = await me.subscribe('basic');
  const refused = async (price: string) => {
    const response = await me.portal('switch', { price });
    return [response.status, await response.text()];
  };
  const { basic, platinum } = me.catalogue.prices;
  expect(await refused(basic)).toEqual([400, expect.stringContaining('there are no changes to confirm')]);
  await me.setCard(true);
  expect(await refused(platinum)).toEqual([402, expect.stringContaining('Your card was declined.')]);
  expect([await me.price(), await me.status()]).toEqual([basic, 'active']);
  expect((await me.current()).items.data[0]).toEqual(before.items.data[0]);
  expect(await me.invoices()).toHaveLength(1);
});

test('a call of the API begins a new week of the same plan, less the unused time of the old one', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  // Half a cent beside the middle of the week, so that some seconds more change no amount.
  await me.advance(week / 2 + 250);
  const anew = { billing_cycle_anchor: { type: 'now' }, proration_behavior: 'always_invoice' } as const;
  const { items } = await me.stripe.subscriptions.update(id, anew);
  const { lines, status } = await me.invoice();
  expect([status, lines.data.map(({ amount }) => amount)]).toEqual(['paid', [-599, 1199]]);
  expect(items.data[0]!.current_period_end - items.data[0]!.current_period_start).toBe(week);
});

test("a cheaper plan waits for the week's end", async () => {
  const me = await newPerson();
  await me.subscribe('premium');
  const { basic, premium } = me.catalogue.prices;
  await me.portal('switch', { price: basic });
  const waiting = await me.current();
  const schedule = waiting.schedule as Stripe.SubscriptionSchedule;
  expect([await me.price(), schedule.status, schedule.phases[1]!.items[0]!.price]).toEqual([premium, 'active', basic]);
  expect(schedule.phases[1]!.start_date).toBe(waiting.items.data[0]!.current_period_end);

  await me.advance(week + 60);
  expect([await me.price(), (await me.invoice()).total]).toEqual([basic, 1199]);
  await me.advance(week);
  expect((await me.current()).schedule).toBeNull();
  const [released] = (await me.stripe.subscriptionSchedules.list({ customer: me.customer })).data;
  expect(released).toMatchObject({ id: schedule.id, status: 'released' });
});

test('a scheduled change can be canceled, and hides the other plans until then', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('premium');
  await me.portal('switch', { price: me.catalogue.prices.basic });
  const flow = { type: 'subscription_update', subscription_update: { subscription: id } } as const;
  await expect(me.portal('switch', {}, flow)).rejects.toMatchObject({ type: 'StripeInvalidRequestError' });
  const { url } = await me.stripe.billingPortal.sessions.create({ customer: me.customer });
  const page = await (await fetch(url)).text();
  expect(page).toContain('Cancel scheduled change');
  expect(page).not.toContain('Switch to');
  await me.portal('release');
  await me.advance(week + 60);
  expect(await me.price()).toBe(me.catalogue.prices.premium);
  expect(me.receivedTypes()).toContain('subscription_schedule.released');
});

test('a schedule by the API ends by a release, and forbids other cancellations', async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('premium');
  const { id: schedule } = await me.stripe.subscriptionSchedules.create({ from_subscription: id });
  const [item] = items.data;
  for (const change of [{ cancel_at_period_end: true }, { cancel_at: item!.current_period_end }])
    await expect(me.stripe.subscriptions.update(id, change)).rejects.toThrow('managed by the subscription schedule');
  await expect(me.stripe.subscriptionSchedules.create({ from_subscription: id })).rejects.toThrow('already attached');
  const released = { status: 'released', released_subscription: id };
  expect(await me.stripe.subscriptionSchedules.release(schedule)).toMatchObject(released);
  await expect(me.stripe.subscriptionSchedules.release(schedule)).rejects.toThrow('released');
  await me.stripe.subscriptions.update(id, { items: [{ id: item!.id, price: me.catalogue.prices.basic }] });
  await me.advance(week + 60);
  expect((await me.invoice()).lines.data).toHaveLength(3);
});

test('a completed flow redirects to its address', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  const updated = `${me.shop.url}/account?portal=updated`;
  const after_completion = { type: 'redirect', redirect: { return_url: updated } } as const;
  const flow = { type: 'subscription_update', subscription_update: { subscription: id }, after_completion } as const;
  const switched = await me.portal('switch', { price: me.catalogue.prices.premium }, flow);
  expect(switched.headers.get('location')).toBe(updated);
  expect((await me.portal('return')).headers.get('location')).toBe(`${me.shop.url}/account`);
});

test('a scheduled end keeps the time of its request, also if the subscription ends sooner', async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('basic');
  const end = items.data[0]!.current_period_end;
  const planned = await me.stripe.subscriptions.update(id, { cancel_at_period_end: true });
  const reason = { cancellation_details: { reason: 'cancellation_requested' } };
  expect(planned).toMatchObject({ status: 'active', cancel_at_period_end: true, cancel_at: end, ...reason });
  const now = await me.advance(1000);
  const ended = await me.stripe.subscriptions.cancel(id);
  const { canceled_at } = planned;
  expect(ended).toMatchObject({ status: 'canceled', cancel_at: null, cancel_at_period_end: false, canceled_at });
  expect(Number(ended.ended_at)).toBeGreaterThanOrEqual(now);
  expect(ended.items.data[0]!.current_period_end).toBe(end);
  const late = await requestOf(me)('POST', `/v1/subscriptions/${id}`, 'description=late');
  expect([late.body.error.code, late.body.error.param]).toEqual(['invalid_canceled_subscription_fields', undefined]);
  expect((await me.stripe.subscriptions.update(id, { metadata: { a: 'b' } })).metadata).toMatchObject({ a: 'b' });
});

test('a trial without a card creates a setup intent, and cannot be invoiced through the API', async () => {
  const me = await newPerson();
  const trial = { customer: me.customer, items: [{ price: me.catalogue.prices.basic }], trial_period_days: 14 };
  const waiting = await me.stripe.subscriptions.create(trial);
  expect(waiting.pending_setup_intent).toMatch(/^seti_/);
  const refused = { statusCode: 400, message: expect.stringContaining('payment source') };
  await expect(me.stripe.subscriptions.update(waiting.id, { trial_end: 'now' })).rejects.toMatchObject(refused);
  await me.stripe.setupIntents.confirm(idOf(waiting.pending_setup_intent), { payment_method: 'pm_card_visa' });
  expect((await me.current()).pending_setup_intent).toBeNull();
  const trial_settings = { end_behavior: { missing_payment_method: 'cancel' } } as const;
  const bare = await me.stripe.customers.create();
  const ending = await me.stripe.subscriptions.create({ ...trial, customer: bare.id, trial_settings });
  expect((await me.stripe.subscriptions.update(ending.id, { trial_end: 'now' })).status).toBe('canceled');
});

test('a portal has one price for each product and interval', async () => {
  const me = await newPerson();
  const { basic } = me.catalogue.prices;
  const product = idOf((await me.stripe.prices.retrieve(basic)).product);
  const newPrice = async (interval: 'month' | 'week') =>
    (await me.stripe.prices.create({ product, currency: 'usd', unit_amount: 1299, recurring: { interval } })).id;
  const offering = (prices: string[]) => {
    const update = { enabled: true, default_allowed_updates: ['price'], products: [{ product, prices }] } as const;
    const features = { payment_method_update: { enabled: true }, subscription_update: update };
    return me.stripe.billingPortal.configurations.create({ features: features as never });
  };
  await expect(offering([basic, await newPrice('week')])).rejects.toMatchObject({ statusCode: 400 });
  const monthly = await newPrice('month');
  const { id, features } = await offering([basic, monthly]);
  expect(features.subscription_update).not.toHaveProperty('products');
  const expand = ['features.subscription_update.products'];
  const whole = await me.stripe.billingPortal.configurations.retrieve(id, { expand });
  expect(whole.features.subscription_update.products?.[0]?.prices).toEqual([basic, monthly]);
});
