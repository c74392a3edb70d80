import { expect, test, vi } from 'vitest';
import { day, draftHour, newPerson, week } from './local-stripe.ts';

test('two clicks at once buy one subscription, and both lead back', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('basic');
  for (const done of await Promise.all([me.press(url!), me.press(url!)]))
    expect(done.headers.get('location')).toBe(`${me.shop.url}/success?session_id=${id}`);
  expect(await me.subscriptions()).toHaveLength(1);
});

test('Back goes to the cancel address; an old page expires after a day', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('basic');
  expect((await me.press(`${url}/back`)).headers.get('location')).toBe(`${me.shop.url}/canceled`);
  await me.advance(day + 1);
  expect(await me.stripe.checkout.sessions.retrieve(id)).toMatchObject({
    status: 'expired',
    url: null,
  });
  expect((await me.press(url ?? '')).status).toBe(410);
  await expect(me.stripe.checkout.sessions.expire(id)).rejects.toMatchObject({ statusCode: 400 });
});

test('without a card nothing is sold, and a first payment that fails may be made up for within a day', async () => {
  const me = await newPerson();
  const items = [{ price: me.catalogue.prices.basic }];
  const order = { customer: me.customer, items };
  await expect(me.stripe.subscriptions.create(order)).rejects.toThrow('no attached payment source');
  await me.saveCard('pm_card_chargeCustomerFail');
  const strict = me.stripe.subscriptions.create({
    ...order,
    payment_behavior: 'error_if_incomplete',
  });
  await expect(strict).rejects.toMatchObject({
    type: 'StripeCardError',
    statusCode: 402,
  });
  expect(await me.subscriptions()).toEqual([]);
  const { id, status } = await me.stripe.subscriptions.create(order);
  expect(status).toBe('incomplete');
  await expect(me.stripe.subscriptions.update(id, { items })).rejects.toThrow(
    '`incomplete` status',
  );
  await me.advance(day);
  expect(await me.status()).toBe('incomplete_expired');
});

test('a coupon lowers each whole week, and what it took comes back in no credit', async () => {
  const me = await newPerson();
  const { coupons, subscriptions } = me.stripe;
  const { id } = await me.subscribe('basic');
  const duration = 'forever';
  const percent = await coupons.create({ percent_off: 25, duration });
  await subscriptions.update(id, { discounts: [{ coupon: percent.id }] });
  await me.advance(week + draftHour);
  expect(await me.invoice()).toMatchObject({
    subtotal: 1199,
    total: 899,
    amount_paid: 899,
    total_discount_amounts: [{ amount: 300 }],
  });
  await me.portal('switch', { price: me.catalogue.prices.premium });
  const { lines, total, total_discount_amounts: discounts } = await me.invoice();
  const credit = lines.data.find(({ amount }) => amount < 0)!;
  expect(credit.amount).toBe(Math.ceil((-899 * (week - draftHour)) / week - 0.5));
  const charged = lines.data.reduce((sum, { amount }) => sum + amount, 0);
  expect(total).toBe(charged - discounts!.reduce((sum, { amount }) => sum + amount, 0));

  const off = await coupons.create({
    amount_off: 9000,
    currency: 'usd',
    duration,
  });
  await subscriptions.update(id, { discounts: [{ coupon: off.id }] });
  await me.advance(week + draftHour);
  expect(await me.invoice()).toMatchObject({
    total: 0,
    amount_paid: 0,
    status: 'paid',
  });
  await subscriptions.update(id, { discounts: '' });
  expect((await me.current()).discounts).toEqual([]);
  await expect(coupons.create({ duration })).rejects.toThrow('percent_off or amount_off');
  const unknown = subscriptions.update(id, { discounts: [{ coupon: 'nothing' }] });
  await expect(unknown).rejects.toMatchObject({ code: 'resource_missing' });
});

test('plans change within a trial without ending it', async () => {
  const me = await newPerson();
  const { basic, premium } = me.catalogue.prices;
  await me.saveCard('pm_card_visa');
  await me.stripe.subscriptions.create({
    customer: me.customer,
    items: [{ price: basic }],
    trial_period_days: 5,
  });
  await me.portal('switch', { price: premium });
  expect([await me.status(), await me.price()]).toEqual(['trialing', premium]);
  await me.portal('switch', { price: basic });
  expect(await me.price()).toBe(premium);
  await me.advance(5 * day + 60);
  expect([await me.status(), await me.price(), (await me.invoice()).total]).toEqual([
    'active',
    basic,
    1199,
  ]);
});

test('a dearer plan is charged whole where the portal credits no unused time, with one date for all that changes', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  const update = {
    enabled: true,
    billing_cycle_anchor: 'now',
    proration_behavior: 'none',
  } as const;
  const features = { subscription_update: update };
  const { configuration, prices } = me.catalogue;
  const changed = await me.stripe.billingPortal.configurations.update(configuration, { features });
  expect(changed.features.subscription_update).not.toHaveProperty('products');
  await me.advance(week / 2);
  let time = Date.now();
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (time += 1000));
  await me.portal('switch', { price: prices.premium });
  clock.mockRestore();
  const { billing_cycle_anchor: start, items } = await me.current();
  expect(items.data[0]).toMatchObject({
    current_period_start: start,
    current_period_end: start + week,
  });
  const { lines, status, created } = await me.invoice();
  expect([status, created, lines.data.map(({ amount }) => amount)]).toEqual([
    'paid',
    start,
    [2999],
  ]);
});

test('a scheduled change hides the other plans until it is canceled', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('premium');
  await me.portal('switch', { price: me.catalogue.prices.basic });
  const flow = {
    type: 'subscription_update',
    subscription_update: { subscription: id },
  } as const;
  const { customer } = me;
  const refused = me.stripe.billingPortal.sessions.create({
    customer,
    flow_data: flow,
  });
  await expect(refused).rejects.toMatchObject({ type: 'StripeInvalidRequestError' });
  const { url } = await me.stripe.billingPortal.sessions.create({ customer });
  const page = await (await fetch(url)).text();
  expect(page).toContain('Cancel scheduled change');
  expect(page).not.toContain('Switch to');
  await me.portal('release');
  expect(await (await fetch(url)).text()).toContain('Switch to platinum');
});

test('the portal requires authentication before it saves or charges a card that needs it', async () => {
  const me = await newPerson();
  const { basic, premium: price } = me.catalogue.prices;
  await me.subscribe('basic', {
    card: '4000002760003184',
    authentication: 'complete',
  });
  expect(await (await me.portal('switch', { price })).text()).toContain('Complete authentication');
  const failed = await me.portal('switch', {
    price,
    authentication: 'fail',
  });
  expect([failed.status, await failed.text()]).toEqual([
    402,
    expect.stringContaining('unable to authenticate'),
  ]);
  expect(await me.price()).toBe(basic);
  await me.portal('switch', { price, authentication: 'complete' });
  expect(await me.price()).toBe(price);

  const card = '4000002500003155';
  const { default_payment_method: before } = await me.current();
  expect(await (await me.portal('card', { card })).text()).toContain('Complete authentication');
  expect((await me.current()).default_payment_method).toBe(before);
  await me.portal('card', { card, authentication: 'complete' });
  expect((await me.current()).default_payment_method).not.toBe(before);
  await me.advance(week + draftHour + 60);
  expect(await me.status()).toBe('active');
});
