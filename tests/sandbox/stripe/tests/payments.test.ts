import { expect, test } from 'vitest';
import { day, draftHour, newPerson, type Person, phone, week } from './local-stripe.ts';

async function failingRenewal(afterRetries: 'unpaid' | 'past_due'): Promise<Person> {
  const me = await newPerson();
  await me.control('PUT', '/settings', {
    retries: 'five-days',
    afterRetries,
    phone,
  });
  await me.subscribe('basic');
  await me.setCard(true);
  await me.advance(week + draftHour + 60);
  return me;
}

test('an unpaid subscription writes drafts that are never charged, until its last open invoice is paid', async () => {
  const me = await failingRenewal('unpaid');
  const { id: owed } = await me.invoice();
  await me.advance(5 * day);
  expect(await me.status()).toBe('unpaid');
  await me.setCard(false);
  await me.advance(2 * week);
  expect(await me.status()).toBe('unpaid');
  const drafts = (await me.invoices()).filter(({ status }) => status === 'draft');
  expect(drafts.map((draft) => draft.automatically_finalizes_at)).toEqual([null, null]);
  await me.stripe.invoices.pay(owed);
  expect(await me.status()).toBe('active');
});

/** Documented: `active` does not say that every invoice is paid; only the latest finalized one decides. */
test('the latest finalized invoice decides, whether an older one is paid, declined or given up', async () => {
  const me = await failingRenewal('past_due');
  const { id: first } = await me.invoice();
  await me.advance(week);
  const { id: second } = await me.invoice();
  await me.advance(week);
  const { id: latest } = await me.invoice();
  await me.stripe.invoices.markUncollectible(first);
  await me.setCard(false);
  await me.stripe.invoices.pay(first);
  expect(await me.status()).toBe('past_due');
  expect((await me.stripe.invoices.markUncollectible(latest)).status).toBe('uncollectible');
  expect(await me.status()).toBe('active');
  await expect(me.stripe.invoices.markUncollectible(latest)).rejects.toThrow('open invoices');
  await me.setCard(true);
  await expect(me.stripe.invoices.pay(second)).rejects.toThrow('declined');
  expect([await me.status(), (await me.stripe.invoices.retrieve(second)).status]).toEqual([
    'active',
    'open',
  ]);
});

test('a payment that was not authenticated is not retried with the same card', async () => {
  const me = await newPerson();
  await me.subscribe('basic', {
    card: '4000002760003184',
    authentication: 'complete',
  });
  await me.advance(week + draftHour + 60);
  await me.advance(4 * day);
  expect(await me.invoice()).toMatchObject({
    status: 'open',
    attempt_count: 3,
  });
  expect(me.receivedTypes().filter((type) => type === 'invoice.payment_failed')).toHaveLength(1);
  await me.portal('card', { card: '4242424242424242' });
  expect(await me.status()).toBe('past_due');
  await me.advance(day);
  expect(await me.status()).toBe('active');
});
