import { expect, test } from 'vitest';
import { newPerson } from './subscriber.ts';

const day = 86_400;

test('a checkout offers what the account has switched on, unless it names the methods', async () => {
  const me = await newPerson();
  const open = await me.checkout('basic');
  expect(open.payment_method_types).toEqual(['card', 'link', 'us_bank_account']);
  expect(open.payment_method_configuration_details?.id).toMatch(/^pmc_/);
  expect(open.payment_method_options).toMatchObject({ card: { request_three_d_secure: 'automatic' } });
  expect(await (await fetch(open.url ?? '')).text()).toContain('US bank account');
  const cards = await me.checkout('basic', { allowed_payment_method_types: ['card', 'link'] });
  expect(cards.payment_method_types).toEqual(['card', 'link']);
  expect(await (await fetch(cards.url ?? '')).text()).not.toContain('US bank account');
  const forced = await me.press(cards.url ?? '', { card: 'us_bank_account' });
  expect(forced.status).toBe(303);
  expect((await me.stripe.checkout.sessions.retrieve(cards.id)).payment_status).toBe('paid');
});

test.each([
  [false, 'active', 'paid', 'checkout.session.async_payment_succeeded'],
  [true, 'past_due', 'unpaid', 'checkout.session.async_payment_failed'],
])('a bank debit is confirmed days after the plan has begun: %s', async (fails, status, payment, event) => {
  const me = await newPerson();
  const { url, id } = await me.checkout('basic');
  await me.press(url ?? '', { card: 'us_bank_account' });
  expect(await me.stripe.checkout.sessions.retrieve(id)).toMatchObject({
    status: 'complete',
    payment_status: 'unpaid',
  });
  expect((await me.current()).status).toBe('active');
  const [invoice] = (await me.stripe.invoices.list({ customer: me.customer })).data;
  expect(invoice).toMatchObject({ status: 'open', amount_paid: 0 });
  await me.setCard(fails);
  await me.advance(4 * day + 60);
  expect((await me.current()).status).toBe(status);
  expect((await me.stripe.checkout.sessions.retrieve(id)).payment_status).toBe(payment);
  expect(me.receivedTypes()).toContain(event);
});
