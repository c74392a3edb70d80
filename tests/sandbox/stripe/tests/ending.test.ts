import { expect, test } from 'vitest';
import { idOf, newPerson } from './subscriber.ts';
import { draftHour, week } from './start-stripe.ts';

const day = 86_400;

test('a cancellation can be undone', async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('basic');
  await me.portal('cancel');
  const canceling = await me.current();
  expect(canceling).toMatchObject({
    status: 'active',
    cancel_at_period_end: false,
    cancel_at: items.data[0]?.current_period_end,
  });
  const flow = { type: 'subscription_cancel', subscription_cancel: { subscription: id } } as const;
  await expect(me.portal('cancel', {}, flow)).rejects.toThrow('already set to be canceled');
  await me.portal('keep');
  await me.advance(week + 60);
  expect(await me.current()).toMatchObject({ status: 'active', cancel_at: null, canceled_at: null });
});

test("a cancellation comes true at the week's end, without another charge", async () => {
  const me = await newPerson();
  const { id, items } = await me.subscribe('basic');
  await me.stripe.subscriptions.update(id, { cancel_at_period_end: true });
  await me.advance(2 * week);
  const ended = await me.current();
  expect(ended).toMatchObject({ status: 'canceled', ended_at: items.data[0]?.current_period_end });
  expect((await me.stripe.invoices.list({ customer: me.customer })).data).toHaveLength(1);
  expect((await me.stripe.subscriptions.list({ customer: me.customer })).data).toHaveLength(0);
  expect(me.receivedTypes()).toContain('customer.subscription.deleted');
  await expect(me.stripe.subscriptions.cancel(id)).rejects.toMatchObject({ code: 'resource_missing' });
});

test('a declined renewal stays past due with a new card until its invoice is paid', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  await me.setCard(true);
  await me.advance(week + draftHour + 60);
  const overdue = await me.current();
  expect(overdue.status).toBe('past_due');
  const invoice = await me.stripe.invoices.retrieve(idOf(overdue.latest_invoice));
  expect(invoice).toMatchObject({ status: 'open', attempt_count: 1, amount_remaining: 1199 });
  expect(invoice.next_payment_attempt).toBeGreaterThan(invoice.created);
  await expect(me.stripe.invoices.pay(invoice.id)).rejects.toMatchObject({
    type: 'StripeCardError',
    code: 'card_declined',
  });
  expect((await me.stripe.invoices.retrieve(invoice.id)).attempt_count).toBe(2);

  expect((await me.portal('card', { card: '4242424242424242' })).status).toBe(303);
  expect((await me.current()).status).toBe('past_due');
  const refused = await me.press(invoice.hosted_invoice_url ?? '', { card: '4000000000000341' });
  expect(await refused.text()).toContain('Your card was declined.');
  await me.press(invoice.hosted_invoice_url ?? '', { card: '4242424242424242' });
  expect((await me.current()).status).toBe('active');
  expect((await me.stripe.invoices.retrieve(invoice.id)).status).toBe('paid');
});

test('a retry succeeds by itself when the card works again', async () => {
  const me = await newPerson();
  await me.subscribe('basic');
  await me.setCard(true);
  await me.advance(week + draftHour + 60);
  await me.setCard(false);
  await me.advance(day);
  expect((await me.current()).status).toBe('active');
});

test('a deleted customer is not charged any more', async () => {
  const me = await newPerson();
  const { id } = await me.subscribe('basic');
  const { url } = await me.checkout('premium');
  expect(await me.stripe.customers.del(me.customer)).toMatchObject({ deleted: true });
  expect(await me.stripe.customers.retrieve(me.customer)).toEqual(expect.objectContaining({ deleted: true }));
  expect((await me.stripe.subscriptions.retrieve(id)).status).toBe('canceled');
  expect((await me.press(url ?? '')).status).toBe(402);
  const stored = await me.control('GET', '/customers/15550100123');
  expect(stored).toMatchObject({ customer: { deleted: true }, subscriptions: [{ status: 'canceled' }] });
});
