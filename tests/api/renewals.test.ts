import type { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { payRenewal } from '../../worker/billing/invoices.ts';
import { botCall, call, parallel, runCron } from './support/api.ts';
import { buy, complete, inPortal, newSubscriber, profileOf, type Subscriber, verify } from './support/buying.ts';
import { advanceClock, day } from './support/clock.ts';
import { database } from './support/database.ts';
import { newPerson } from './support/person.ts';
import { sandbox } from './support/sandbox.ts';
import {
  customerOf,
  deliver,
  deliverAtOnce,
  eventsOf,
  latestInvoiceOf,
  makeDue,
  priceOf,
  stripe,
  subscriptionOf,
  type Tier,
} from './support/stripe.ts';

const hour = 3600;
const week = 168 * hour;

/** The events of four renewals. */
async function renewed({ phone, customer }: Subscriber) {
  const { now } = await sandbox.stripeClock(phone);
  await sandbox.advanceStripe(phone, 4 * week);
  return (await eventsOf(customer, now)).filter(({ type }) => type === 'customer.subscription.updated');
}

const post = (phone: string, count = 1) => botCall('/api/bot/usage', { phone, count });
const usage = async (phone: string) => (await botCall('/api/bot/entitlements', { phone })).body;

/** A user whose card fails from now on, and who has used the week's allowance. */
async function spent(tier: Tier, limit: number): Promise<Subscriber> {
  const person = await newSubscriber(tier);
  await sandbox.card(person.phone, true);
  for (let left = limit; left > 0; left -= 100) await post(person.phone, Math.min(left, 100));
  expect(await usage(person.phone)).toMatchObject({ used: limit, remaining: 0 });
  return person;
}

async function latestInvoice({ customer }: Subscriber): Promise<Stripe.Invoice> {
  return stripe.invoices.retrieve(await latestInvoiceOf(customer));
}

/** The payments of a customer that succeeded. */
async function payments({ customer }: Subscriber): Promise<Stripe.Charge[]> {
  const { data } = await stripe.charges.list({ customer, limit: 100 });
  return data.filter(({ status }) => status === 'succeeded');
}

/** The cron job fetches the customer's state. */
async function look({ customer }: Subscriber): Promise<void> {
  await makeDue(customer);
  await runCron();
}

/** Advances Stripe's clock for a user, and delivers every event that has not been delivered. */
async function advance({ customer, phone }: Subscriber, seconds: number): Promise<void> {
  await sandbox.advanceStripe(phone, seconds);
  await deliver(customer);
}

describe('a renewal', () => {
  it('is paid as soon as it is seen, and opens the new week', async () => {
    const person = await newSubscriber('basic');
    await post(person.phone, 30);
    await sandbox.advanceStripe(person.phone, week);
    expect(await latestInvoice(person)).toMatchObject({ status: 'draft', auto_advance: true });
    // The old week goes on with what is left of it, also by our clock.
    advanceClock(7 * day + hour * 1000);
    expect((await post(person.phone)).body).toMatchObject({ allowed: false, used: 30 });
    await runCron();
    expect(await latestInvoice(person)).toMatchObject({ status: 'paid' });
    expect(await usage(person.phone)).toMatchObject({ used: 0, allowed: true, tier: 'basic' });
    await advance(person, 2 * hour);
    expect(await payments(person)).toHaveLength(2);
  });

  it('is charged once by many workers that see it at once', async () => {
    const person = await newSubscriber('premium');
    await sandbox.advanceStripe(person.phone, week);
    const { id } = await subscriptionOf(person.customer);
    const read = () => stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
    const seen = await parallel(5, read);
    const paid = await parallel(seen.length, (index) => payRenewal(stripe, seen[index]!, 1));
    expect(paid).toEqual(seen.map(() => true));
    expect(await payRenewal(stripe, seen[0]!, 2)).toBe(true);
    expect(await payRenewal(stripe, await read(), 1)).toBe(false);
    expect(await payments(person)).toHaveLength(2);
    await advance(person, 2 * hour);
    expect(await usage(person.phone)).toMatchObject({ used: 0, tier: 'premium' });
  });

  it.each<[string, Stripe.InvoiceUpdateParams]>([
    ['stopped', { auto_advance: false }],
    ['marked', { metadata: { hold: 'until Monday' } }],
  ])('is left alone once somebody has %s its draft', async (_, edit) => {
    const person = await newSubscriber('basic');
    await post(person.phone, 30);
    await sandbox.advanceStripe(person.phone, week);
    const { id } = await latestInvoice(person);
    await stripe.invoices.update(id, edit);
    await look(person);
    expect(await latestInvoice(person)).toMatchObject({ id, status: 'draft' });
    expect(await usage(person.phone)).toMatchObject({ allowed: false, used: 30 });
    await stripe.invoices.pay(id);
    await look(person);
    expect(await usage(person.phone)).toMatchObject({ allowed: true, used: 0 });
  });

  it('is paid beside an earlier draft that somebody has stopped, which is left alone', async () => {
    const person = await newSubscriber('basic');
    await post(person.phone, 30);
    await sandbox.advanceStripe(person.phone, week);
    const stopped = await latestInvoiceOf(person.customer);
    await stripe.invoices.update(stopped, { auto_advance: false });
    await sandbox.advanceStripe(person.phone, week);
    const drafts = await stripe.invoices.list({ customer: person.customer, status: 'draft' });
    expect(drafts.data.map(({ id }) => id)).toEqual([await latestInvoiceOf(person.customer), stopped]);
    await look(person);
    await look(person);
    expect((await stripe.invoices.retrieve(stopped)).status).toBe('draft');
    expect(await payments(person)).toHaveLength(2);
    expect(await usage(person.phone)).toMatchObject({ allowed: true, used: 0, limit: 30 });
  });

  it('of two subscriptions, both drafts at once, is charged once for each', async () => {
    const person = await newSubscriber('basic');
    const { default_payment_method: card } = await subscriptionOf(person.customer);
    const items = [{ price: await priceOf('premium') }];
    const order = { customer: person.customer, items, default_payment_method: card as string };
    await stripe.subscriptions.create(order);
    await sandbox.advanceStripe(person.phone, week);
    const drafts = await stripe.invoices.list({ customer: person.customer, status: 'draft' });
    expect(drafts.data).toHaveLength(2);
    await Promise.all([look(person), look(person), look(person)]);
    await advance(person, 2 * hour);
    const amounts = (await payments(person)).map(({ amount }) => amount);
    expect(amounts.toSorted((one, other) => one - other)).toEqual([1199, 1199, 2999, 2999]);
    expect(await usage(person.phone)).toMatchObject({ used: 0, limit: 70, tier: 'premium' });
  });

  it('that was voided opens nothing and is not charged', async () => {
    const person = await newSubscriber('basic');
    await post(person.phone, 30);
    await sandbox.advanceStripe(person.phone, week);
    const { id } = await latestInvoice(person);
    await stripe.invoices.finalizeInvoice(id, { auto_advance: false });
    await stripe.invoices.voidInvoice(id);
    await advance(person, 2 * hour);
    expect(await usage(person.phone)).toMatchObject({ allowed: false, used: 30 });
    expect(await payments(person)).toHaveLength(1);
  });

  it('that the owner has given up opens nothing, although Stripe calls the subscription active', async () => {
    const person = await spent('basic', 30);
    await advance(person, week + 2 * hour);
    await stripe.invoices.markUncollectible(await latestInvoiceOf(person.customer));
    await advance(person, 0);
    expect((await subscriptionOf(person.customer)).status).toBe('active');
    expect(await usage(person.phone)).toMatchObject({ allowed: false, used: 30, limit: 30 });
    await sandbox.card(person.phone, false);
    await advance(person, week);
    await look(person);
    expect(await usage(person.phone)).toMatchObject({ allowed: true, used: 0, limit: 30 });
    expect(await payments(person)).toHaveLength(2);
  });

  it('opens nothing for a card that fails, in the hour of the draft or later, nor with the next subscription', async () => {
    const person = await spent('platinum', 160);
    await sandbox.advanceStripe(person.phone, week);
    expect((await post(person.phone)).body).toMatchObject({ allowed: false, used: 160 });
    await look(person);
    expect((await subscriptionOf(person.customer)).status).toBe('past_due');
    expect((await latestInvoice(person)).next_payment_attempt).not.toBeNull();
    expect((await post(person.phone)).body).toMatchObject({ allowed: false, used: 160 });
    await advance(person, 15 * 24 * hour);
    expect((await profileOf(person.token)).metadata.subscriptionTier).toBe('free');
    expect(await payments(person)).toHaveLength(1);
  });

  it('gives no fresh allowance while it is unpaid, nor do the three after it', async () => {
    const person = await spent('platinum', 160);
    await sandbox.stripeSettings(person.phone, { afterRetries: 'past_due' });
    for (let renewal = 0; renewal < 4; renewal += 1) {
      await advance(person, week + 2 * hour);
      expect((await profileOf(person.token)).metadata).toMatchObject({
        subscriptionTier: 'platinum',
        subscriptionStatus: 'past_due',
      });
      expect(await usage(person.phone)).toMatchObject({ allowed: false, used: 160, remaining: 0 });
      expect((await post(person.phone)).body).toMatchObject({ allowed: false, used: 160 });
    }
  });

  it('opens the present week as soon as it is paid', async () => {
    const person = await spent('basic', 30);
    await advance(person, week + 2 * hour);
    await advance(person, week + 2 * hour);
    await sandbox.card(person.phone, false);
    await stripe.invoices.pay(await latestInvoiceOf(person.customer));
    await advance(person, 0);
    const { items } = await subscriptionOf(person.customer);
    const { metadata } = await profileOf(person.token);
    expect(metadata).toMatchObject({ subscriptionStatus: 'active', subscriptionTier: 'basic' });
    expect(Date.parse(metadata.renewalDate)).toBe(items.data[0]!.current_period_end * 1000);
    expect(await usage(person.phone)).toMatchObject({ allowed: true, used: 0, resetsAt: metadata.renewalDate });
  });

  it('falls to free when the retries are over, by cancellation or as unpaid', async () => {
    const person = await spent('basic', 30);
    await sandbox.stripeSettings(person.phone, { retries: 'five-days', afterRetries: 'unpaid' });
    await advance(person, week + 6 * 24 * hour);
    expect((await profileOf(person.token)).metadata).toMatchObject({
      subscriptionTier: 'free',
      subscriptionStatus: 'unpaid',
    });
  });
});

it('an upgrade whose proration fails grants nothing until it is paid, and opens no week', async () => {
  const person = await spent('basic', 30);
  const { id, items } = await subscriptionOf(person.customer);
  await stripe.subscriptions.update(id, {
    items: [{ id: items.data[0]!.id, price: await priceOf('platinum') }],
    proration_behavior: 'always_invoice',
  });
  await advance(person, 0);
  const metadata = async () => (await profileOf(person.token)).metadata;
  expect(await metadata()).toMatchObject({ subscriptionStatus: 'past_due', subscriptionTier: 'basic' });
  expect(await usage(person.phone)).toMatchObject({ allowed: false, used: 30, limit: 30 });
  await sandbox.card(person.phone, false);
  await stripe.invoices.pay(await latestInvoiceOf(person.customer));
  await advance(person, 0);
  expect(await metadata()).toMatchObject({ subscriptionStatus: 'active', subscriptionTier: 'platinum' });
  expect(await usage(person.phone)).toMatchObject({ allowed: true, used: 30, limit: 160 });
});

describe('a dearer plan', () => {
  const paidBy = async (customer: string) => {
    const { data } = await stripe.charges.list({ customer, limit: 100 });
    return data.filter(({ status }) => status === 'succeeded').map(({ amount }) => amount);
  };

  it('begins a new, fully paid week, also minutes before the renewal', async () => {
    const person = await newSubscriber('basic');
    await post(person.phone, 30);
    await advance(person, week - 15 * 60);
    const { items } = await subscriptionOf(person.customer);
    const portal = (await buy(person.token)).body.portalUrl;
    expect((await inPortal(portal, 'switch', { price: await priceOf('platinum') })).status).toBe(303);
    await advance(person, 0);
    const [latest] = await paidBy(person.customer);
    // At most the last 15 minutes of $11.99 are credited.
    expect(latest).toBeGreaterThanOrEqual(7999 - 3);
    const changed = (await subscriptionOf(person.customer)).items.data[0]!;
    expect(changed.current_period_start).toBeLessThan(items.data[0]!.current_period_end);
    expect(changed.current_period_end - changed.current_period_start).toBe(week);
    const resetsAt = new Date(changed.current_period_end * 1000).toISOString();
    expect(await usage(person.phone)).toMatchObject({ used: 0, limit: 160, tier: 'platinum', resetsAt });
    expect((await profileOf(person.token)).metadata.renewalDate).toBe(resetsAt);
    await post(person.phone, 100);
    await post(person.phone, 60);

    await inPortal((await buy(person.token)).body.portalUrl, 'switch', { price: await priceOf('basic') });
    await advance(person, 0);
    expect((await profileOf(person.token)).metadata).toMatchObject({
      subscriptionTier: 'platinum',
      subscriptionStatus: 'downgrade_scheduled',
      scheduledDowngradeTierId: 'basic',
    });
    expect(await usage(person.phone)).toMatchObject({ used: 160, remaining: 0 });
    await advance(person, week + 2 * hour);
    expect(await usage(person.phone)).toMatchObject({ used: 0, limit: 30, tier: 'basic' });
    expect((await paidBy(person.customer))[0]).toBe(1199);
  });

  it('changes nothing when its payment is declined', async () => {
    const person = await spent('basic', 30);
    const before = await usage(person.phone);
    const portal = (await buy(person.token)).body.portalUrl;
    expect((await inPortal(portal, 'switch', { price: await priceOf('platinum') })).status).toBe(402);
    await advance(person, 0);
    expect(await usage(person.phone)).toEqual(before);
    expect(await paidBy(person.customer)).toHaveLength(1);
  });
});

describe('a user whose payment is due', () => {
  /** A card that fails, then another one in the portal. */
  async function updateCard(person: Subscriber, card: string): Promise<void> {
    const { body } = await buy(person.token);
    expect(body.portalUrl).toContain('/portal/');
    expect((await inPortal(body.portalUrl, 'card', { card })).status).toBe(303);
    await runCron();
  }

  it.each([
    ['past_due', { afterRetries: 'cancel' }, 2 * hour],
    ['unpaid', { retries: 'five-days', afterRetries: 'unpaid' }, 6 * 24 * hour],
  ] as const)('pays it by saving a new card, while %s', async (status, settings, later) => {
    const person = await spent('basic', 30);
    await sandbox.stripeSettings(person.phone, settings);
    await advance(person, week + later);
    expect((await subscriptionOf(person.customer)).status).toBe(status);
    await updateCard(person, '4242424242424242');
    expect((await subscriptionOf(person.customer)).status).toBe('active');
    expect((await profileOf(person.token)).metadata).toMatchObject({
      subscriptionStatus: 'active',
      subscriptionTier: 'basic',
    });
    expect(await usage(person.phone)).toMatchObject({ allowed: true, used: 0 });
    const paid = await stripe.charges.list({ customer: person.customer, limit: 100 });
    expect(paid.data.filter(({ status: result }) => result === 'succeeded')).toHaveLength(2);
  });

  it('is charged once for a new card that fails as well', async () => {
    const person = await spent('basic', 30);
    await advance(person, week + 2 * hour);
    const attempts = async () => (await stripe.invoices.retrieve(await latestInvoiceOf(person.customer))).attempt_count;
    const before = await attempts();
    await updateCard(person, '4000000000000341');
    await advance(person, 0);
    for (let look = 0; look < 3; look += 1) {
      await makeDue(person.customer);
      await profileOf(person.token);
      await runCron();
    }
    expect(await attempts()).toBe(before + 1);
    expect((await profileOf(person.token)).metadata.subscriptionStatus).toBe('past_due');
  });
});

describe('a plan that is changed while its payment is due', () => {
  /** A user past due who has used the last paid week, with a card that works again; the open invoice's id. */
  async function owing(tier: Tier, limit: number, weeks = 1): Promise<Subscriber & { debt: string }> {
    const person = await spent(tier, limit);
    await sandbox.stripeSettings(person.phone, { afterRetries: 'past_due' });
    for (let renewal = 0; renewal < weeks; renewal += 1) await advance(person, week + 2 * hour);
    await sandbox.card(person.phone, false);
    await database.execute({
      sql: 'update users set billing_watch_until = null where phone = ?',
      args: [person.phone],
    });
    return { ...person, debt: await latestInvoiceOf(person.customer) };
  }

  const state = async ({ token }: Subscriber) => (await profileOf(token)).metadata;

  /** The plain portal, without a visit that the cron job watches. */
  async function portalOf({ customer }: Subscriber): Promise<string> {
    return (await stripe.billingPortal.sessions.create({ customer, configuration: await portal() })).url;
  }

  async function portal(): Promise<string> {
    const { data } = await stripe.billingPortal.configurations.list({ active: true, limit: 100 });
    return data.find(({ metadata }) => metadata?.solace && !metadata.price)!.id;
  }

  /** Stripe calls the subscription active; the product knows that the week before is not paid. */
  async function expectOwed(person: Subscriber, tier: Tier, limit: number): Promise<void> {
    await advance(person, 0);
    expect((await subscriptionOf(person.customer)).status).toBe('active');
    expect((await profileOf(person.token)).metadata).toMatchObject({
      subscriptionStatus: 'past_due',
      subscriptionTier: tier,
    });
    expect(await usage(person.phone)).toMatchObject({ allowed: false, used: limit, limit });
    expect((await post(person.phone)).body).toMatchObject({ allowed: false, used: limit });
  }

  it('opens no week for a credit of unpaid weeks, however often, until the credited invoice is paid', async () => {
    const person = await owing('platinum', 160, 2);
    const { id } = await subscriptionOf(person.customer);
    const refused = await inPortal(await portalOf(person), 'switch', { price: await priceOf('platinum') });
    expect(refused.status).toBe(400);
    // What the portal refuses, the owner can do in the dashboard.
    const anew = { billing_cycle_anchor: { type: 'now' }, proration_behavior: 'always_invoice' } as const;
    for (let times = 0; times < 3; times += 1) {
      await stripe.subscriptions.update(id, anew);
      // Two hours have passed since the renewal.
      const { status, total } = await latestInvoice(person);
      expect([status, total < 400]).toEqual(['paid', true]);
      await expectOwed(person, 'platinum', 160);
    }
    await stripe.invoices.pay(person.debt);
    await advance(person, 0);
    expect(await state(person)).toMatchObject({ subscriptionStatus: 'active', subscriptionTier: 'platinum' });
    expect(await usage(person.phone)).toMatchObject({ allowed: true, used: 0, limit: 160 });
  });

  it('to a dearer one opens no week for the credit of an unpaid one, until that is paid', async () => {
    const person = await owing('basic', 30);
    await inPortal(await portalOf(person), 'switch', { price: await priceOf('premium') });
    expect((await latestInvoice(person)).amount_paid).toBeLessThan(2999 - 1100);
    await expectOwed(person, 'basic', 30);
    expect((await stripe.invoices.retrieve(person.debt)).status).toBe('open');
    await stripe.invoices.pay(person.debt);
    await advance(person, 0);
    expect(await state(person)).toMatchObject({ subscriptionStatus: 'active', subscriptionTier: 'premium' });
    expect(await usage(person.phone)).toMatchObject({ allowed: true, used: 0, limit: 70 });
  });

  it('pays the credited invoice too, once, with the card that has paid for the change', async () => {
    const person = await owing('basic', 30);
    await inPortal((await buy(person.token)).body.portalUrl, 'switch', { price: await priceOf('premium') });
    await look(person);
    await look(person);
    await advance(person, 0);
    expect((await stripe.invoices.retrieve(person.debt)).status).toBe('paid');
    expect(await payments(person)).toHaveLength(3);
    expect(await state(person)).toMatchObject({ subscriptionStatus: 'active', subscriptionTier: 'premium' });
    expect(await usage(person.phone)).toMatchObject({ allowed: true, used: 0, limit: 70 });
  });

  it('leads to the card, and not to another plan, until the credited invoice is paid', async () => {
    const person = await owing('basic', 30);
    await inPortal(await portalOf(person), 'switch', { price: await priceOf('premium') });
    await sandbox.card(person.phone, true);
    await expectOwed(person, 'basic', 30);
    const { portalUrl } = (await buy(person.token)).body;
    await look(person);
    await expectOwed(person, 'basic', 30);
    expect((await inPortal(portalUrl, 'card', { card: '4242424242424242' })).headers.get('location')).toContain(
      '/auth/stripe-success',
    );
    await look(person);
    expect(await state(person)).toMatchObject({ subscriptionStatus: 'active', subscriptionTier: 'premium' });
  });

  it('charges nobody who has cancelled for the credited invoice', async () => {
    const person = await owing('basic', 30);
    await inPortal(await portalOf(person), 'switch', { price: await priceOf('premium') });
    await expectOwed(person, 'basic', 30);
    expect((await call('POST', '/api/billing/cancel', { token: person.token })).status).toBe(200);
    await advance(person, 15 * 24 * hour);
    expect(await stripe.invoices.retrieve(person.debt)).toMatchObject({ status: 'open', auto_advance: false });
    expect(await payments(person)).toHaveLength(2);
    expect((await state(person)).subscriptionTier).toBe('free');
  });

  it('is paid together with the draft of a renewal that nobody has seen', async () => {
    const person = await newSubscriber('basic');
    const portalUrl = await portalOf(person);
    await sandbox.advanceStripe(person.phone, week);
    const { id } = await latestInvoice(person);
    await inPortal(portalUrl, 'switch', { price: await priceOf('premium') });
    expect((await stripe.invoices.retrieve(id)).status).toBe('draft');
    await advance(person, 0);
    expect((await stripe.invoices.retrieve(id)).status).toBe('paid');
    expect(await state(person)).toMatchObject({ subscriptionStatus: 'active', subscriptionTier: 'premium' });
    expect(await usage(person.phone)).toMatchObject({ used: 0, limit: 70 });
  });
});

describe('a card that needs authentication at every payment', () => {
  const card = '4000002760003184';

  it('grants nothing when the first payment is not authenticated', async () => {
    const { now: since } = await sandbox.stripeClock();
    const { token, phone } = await newPerson();
    const { portalUrl } = (await buy(token, 'premium')).body;
    await expect(complete(portalUrl, { card })).rejects.toThrow('200');
    await expect(complete(portalUrl, { card, authentication: 'fail' })).rejects.toThrow('402');
    await deliver(await customerOf(phone), since);
    await runCron();
    expect((await profileOf(token)).metadata).toMatchObject({ subscriptionTier: 'free', subscriptionStatus: 'active' });
  });

  it.each([
    [true, 'active', 0],
    [false, 'past_due', 30],
  ] as const)('is past due at a renewal until it is authenticated (%s)', async (succeeds, status, used) => {
    const { token, phone, address } = await newPerson();
    const { portalUrl } = (await buy(token, 'basic')).body;
    await verify(token, await complete(portalUrl, { card, authentication: 'complete' }));
    await post(phone, 30);
    const person = { phone, token, address, since: 0, customer: await customerOf(phone) };
    await advance(person, week + 2 * hour);
    expect((await profileOf(token)).metadata.subscriptionStatus).toBe('past_due');
    expect(await usage(phone)).toMatchObject({ allowed: false, used: 30 });
    expect((await buy(token)).body.portalUrl).toContain('/invoice/');
    await sandbox.authenticate(phone, succeeds);
    await advance(person, 0);
    expect((await profileOf(token)).metadata.subscriptionStatus).toBe(status);
    expect(await usage(phone)).toMatchObject({ used });
  });
});

it('opens the right week for everybody when a hundred renewals arrive at once', async () => {
  const people = await parallel(25, () => newSubscriber('basic'));
  for (const { phone } of people) await botCall('/api/bot/usage', { phone, count: 7 });
  const renewals = (await parallel(people.length, (index) => renewed(people[index]!))).flat();
  expect(renewals.length).toBeGreaterThanOrEqual(100);
  await deliverAtOnce(renewals.toSorted(() => Math.random() - 0.5));

  for (const { phone, token, customer } of people) {
    const end = (await subscriptionOf(customer)).items.data[0]!.current_period_end * 1000;
    const { metadata, messagesUsedThisPeriod } = await profileOf(token);
    expect([metadata.renewalDate, messagesUsedThisPeriod]).toEqual([new Date(end).toISOString(), 0]);
    const { body } = await botCall('/api/bot/usage', { phone });
    expect(body).toMatchObject({ allowed: true, used: 1, resetsAt: metadata.renewalDate });
  }
});
