import type { Stripe } from 'stripe';
import { expect, test } from 'vitest';
import { idOf, newPerson, priceOf } from './subscriber.ts';
import { week } from './start-stripe.ts';

test('a dearer plan applies at once and is charged for the rest of the week', async () => {
  const me = await newPerson();
  const before = await me.subscribe('basic');
  await me.advance(week / 2);
  await me.portal('switch', { price: me.catalogue.prices.premium });
  const after = await me.current();
  expect(priceOf(after)).toBe(me.catalogue.prices.premium);
  expect(after.items.data[0]?.current_period_end).toBe(before.items.data[0]?.current_period_end);
  const invoice = await me.stripe.invoices.retrieve(idOf(after.latest_invoice));
  expect(invoice).toMatchObject({ billing_reason: 'subscription_update', status: 'paid' });
  expect(Math.abs(invoice.total - (2999 - 1199) / 2)).toBeLessThan(3);
  expect(invoice.lines.data.map(({ parent }) => parent?.subscription_item_details?.proration)).toEqual([true, true]);
});

test('a dearer plan whose charge is declined changes nothing', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  await me.setCard(true);
  const refused = await me.portal('switch', { price: me.catalogue.prices.platinum });
  expect(refused.status).toBe(402);
  expect(await refused.text()).toContain('Your card was declined.');
  const after = await me.current();
  expect([priceOf(after), after.status]).toEqual([me.catalogue.prices.basic, 'active']);
  expect((await me.stripe.invoices.list({ customer: me.customer })).data).toHaveLength(1);
});

test("a cheaper plan waits for the week's end", async () => {
  const me = await newPerson();
  await me.subscribe('premium');
  await me.portal('switch', { price: me.catalogue.prices.basic });
  const waiting = await me.current();
  expect(priceOf(waiting)).toBe(me.catalogue.prices.premium);
  const schedule = waiting.schedule as Stripe.SubscriptionSchedule;
  expect(schedule.status).toBe('active');
  expect(schedule.phases[1]?.items[0]?.price).toBe(me.catalogue.prices.basic);
  expect(schedule.phases[1]?.start_date).toBe(waiting.items.data[0]?.current_period_end);

  await me.advance(week + 60);
  const changed = await me.current();
  expect(priceOf(changed)).toBe(me.catalogue.prices.basic);
  expect((await me.stripe.invoices.retrieve(idOf(changed.latest_invoice))).total).toBe(1199);
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
  expect(priceOf(await me.current())).toBe(me.catalogue.prices.premium);
  expect(me.receivedTypes()).toContain('subscription_schedule.released');
});

test('a schedule by the API has phases and a release, and forbids other cancellations', async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('premium');
  const { id: schedule, phases } = await me.stripe.subscriptionSchedules.create({ from_subscription: id });
  const start = phases[0]?.start_date ?? 0;
  await me.stripe.subscriptionSchedules.update(schedule, {
    end_behavior: 'release',
    phases: [
      { items: [{ price: me.catalogue.prices.premium }], start_date: start, end_date: start + week },
      {
        items: [{ price: me.catalogue.prices.basic }],
        proration_behavior: 'none',
        duration: { interval: 'week', interval_count: 1 },
      },
    ],
  });
  for (const change of [{ cancel_at_period_end: true }, { cancel_at: start + week }]) {
    await expect(me.stripe.subscriptions.update(id, change)).rejects.toThrow('managed by the subscription schedule');
  }
  await expect(me.stripe.subscriptionSchedules.create({ from_subscription: id })).rejects.toThrow('already attached');
  expect(await me.stripe.subscriptionSchedules.release(schedule)).toMatchObject({
    status: 'released',
    released_subscription: id,
  });
  await expect(me.stripe.subscriptionSchedules.release(schedule)).rejects.toThrow('released');
  await me.stripe.subscriptions.update(id, {
    items: [{ id: items.data[0]?.id ?? '', price: me.catalogue.prices.basic }],
  });
  await me.advance(week + 60);
  const [renewal] = (await me.stripe.invoices.list({ customer: me.customer, limit: 1 })).data;
  expect(renewal?.lines.data).toHaveLength(3);
});

test('a completed flow redirects to its address', async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('basic');
  const after_completion = {
    type: 'redirect',
    redirect: { return_url: `${me.shop.url}/account?portal=updated` },
  } as const;
  const confirm = { subscription: id, items: [{ id: items.data[0]?.id ?? '', price: me.catalogue.prices.premium }] };
  const price = me.catalogue.prices.premium;
  const flow = { type: 'subscription_update_confirm', subscription_update_confirm: confirm, after_completion } as const;
  expect((await me.portal('switch', { price }, flow)).headers.get('location')).toBe(
    `${me.shop.url}/account?portal=updated`,
  );
  await expect(me.portal('switch', { price }, flow)).rejects.toThrow('no changes to confirm');
  expect((await me.portal('return')).headers.get('location')).toBe(`${me.shop.url}/account`);
});
