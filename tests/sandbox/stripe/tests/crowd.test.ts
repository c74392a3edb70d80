import { expect, test } from 'vitest';
import { newPerson } from './subscriber.ts';
import { draftHour, week } from './start-stripe.ts';

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
