import { expect, test } from 'vitest';
import { newPerson, priceOf } from './subscriber.ts';
import { draftHour, week } from './start-stripe.ts';

test('a checkout sells a week, and the weeks after it', async () => {
  const me = await newPerson();
  const session = await me.checkout('basic', { client_reference_id: 'me', metadata: { tier: 'basic' } });
  const page = await (await fetch(session.url ?? '')).text();
  for (const text of ['Basic', '$11.99', '/ week', '>Subscribe<', '>Back<']) expect(page).toContain(text);

  const done = await me.press(session.url ?? '', { card: '4242424242424242' });
  expect(done.status).toBe(303);
  expect(done.headers.get('location')).toBe(`${me.shop.url}/success?session_id=${session.id}`);
  const completed = await me.stripe.checkout.sessions.retrieve(session.id, { expand: ['line_items', 'subscription'] });
  expect(completed).toMatchObject({
    status: 'complete',
    payment_status: 'paid',
    url: null,
    metadata: { tier: 'basic' },
  });
  expect(completed.line_items?.data[0]?.price?.id).toBe(me.catalogue.prices.basic);

  const first = await me.current();
  expect(first).toMatchObject({ status: 'active', cancel_at: null, billing_mode: { type: 'flexible' } });
  const start = first.items.data[0]?.current_period_start ?? 0;
  expect(first.items.data[0]?.current_period_end).toBe(start + week);
  await me.advance(12 * week + draftHour + 60);
  const later = await me.current();
  expect(later.items.data[0]?.current_period_start).toBe(start + 12 * week);
  const invoices = await me.stripe.invoices.list({ customer: me.customer, limit: 100 });
  expect(invoices.data.map(({ status }) => status)).toEqual(Array.from({ length: 13 }, () => 'paid'));
  expect(invoices.data[0]?.parent?.subscription_details?.subscription).toBe(first.id);
});

test('two clicks on Subscribe, even at once, make one subscription', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('basic');
  const responses = await Promise.all([me.press(url ?? ''), me.press(url ?? ''), me.press(url ?? '')]);
  for (const response of responses) expect(response.headers.get('location')).toContain(id);
  expect((await me.stripe.subscriptions.list({ customer: me.customer })).data).toHaveLength(1);
});

test('a refused card changes nothing, and another one pays', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('premium');
  for (const card of ['4000000000000002', '4000000000000341']) {
    const refused = await me.press(url ?? '', { card });
    expect(refused.status).toBe(402);
    expect(await refused.text()).toContain('Your card was declined.');
  }
  expect((await me.stripe.subscriptions.list({ customer: me.customer, status: 'all' })).data).toHaveLength(0);
  expect((await me.stripe.checkout.sessions.retrieve(id)).status).toBe('open');
  await me.press(url ?? '', { card: '5555555555554444' });
  expect(priceOf(await me.current())).toBe(me.catalogue.prices.premium);
});

test('Back goes to the cancel address; an old page expires after a day', async () => {
  const me = await newPerson();
  const { url, id } = await me.checkout('basic');
  expect((await me.press(`${url}/back`)).headers.get('location')).toBe(`${me.shop.url}/canceled`);
  await me.advance(86_401);
  expect(await me.stripe.checkout.sessions.retrieve(id)).toMatchObject({ status: 'expired', url: null });
  expect(me.receivedTypes()).toContain('checkout.session.expired');
  expect((await me.press(url ?? '')).status).toBe(410);
  await expect(me.stripe.checkout.sessions.expire(id)).rejects.toMatchObject({ statusCode: 400 });
});
