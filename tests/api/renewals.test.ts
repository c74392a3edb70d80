import type { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { payRenewal } from '../../worker/billing/invoices.ts';
import { call, parallel, runCron } from './support/api.ts';
import { buy, complete, inPortal, newSubscriber, type Subscriber, switchPlan, verify } from './support/buying.ts';
import { advanceClock, day } from './support/clock.ts';
import { database } from './support/database.ts';
import { logLines } from './support/log.ts';
import { newPerson } from './support/person.ts';
import { metadataOf, planOf, post, profileOf, usageOf } from './support/profile.ts';
import { sandbox } from './support/sandbox.ts';
import { changePrice, customerOf, paymentsOf, priceOf, stripe, subscriptionOf, type Tier } from './support/stripe.ts';
import { advance, deliver, fetchByCron, hour, newEventsOf, postEvent, week } from './support/stripe-events.ts';

/** A user whose card fails from now on, and who has used the week's allowance. */
async function spent(tier: Tier, limit: number): Promise<Subscriber> {
  const person = await newSubscriber(tier);
  await sandbox.card(person.phone, true);
  for (let left = limit; left > 0; left -= 100) await post(person.phone, Math.min(left, 100));
  expect(await usageOf(person.phone)).toMatchObject({ used: limit, remaining: 0 });
  return person;
}

/** A user of the basic plan who has used it up, at the moment of the renewal. */
async function renewing(): Promise<Subscriber> {
  const person = await newSubscriber('basic');
  await post(person.phone, 30);
  await sandbox.advanceStripe(person.phone, week);
  return person;
}

async function latestInvoice(customer: string): Promise<Stripe.Invoice> {
  const { latest_invoice: latest } = await subscriptionOf(customer);
  return stripe.invoices.retrieve(latest as string);
}

/** The card of a user works again and pays the latest invoice. */
async function payLatest(person: Subscriber): Promise<void> {
  await sandbox.card(person.phone, false);
  await stripe.invoices.pay((await latestInvoice(person.customer)).id);
  await advance(person, 0);
}

describe('a renewal', () => {
  it('is paid as soon as it is seen, and opens the new week', async () => {
    const person = await renewing();
    const { phone, customer } = person;
    expect(await latestInvoice(customer)).toMatchObject({ status: 'draft', auto_advance: true });
    // The old week goes on with what is left of it, also by our clock.
    advanceClock(7 * day + hour * 1000);
    expect((await post(phone)).body).toMatchObject({ allowed: false, used: 30 });
    await runCron();
    expect(await latestInvoice(customer)).toMatchObject({ status: 'paid' });
    expect(await usageOf(phone)).toMatchObject({ used: 0, allowed: true, tier: 'basic' });
    await advance(person, 2 * hour);
    expect(await paymentsOf(customer)).toHaveLength(2);
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
    expect(await paymentsOf(person.customer)).toHaveLength(2);
    await advance(person, 2 * hour);
    expect(await usageOf(person.phone)).toMatchObject({ used: 0, tier: 'premium' });
  });

  it.each<[string, Stripe.InvoiceUpdateParams]>([
    ['stopped', { auto_advance: false }],
    ['marked', { metadata: { hold: 'until Monday' } }],
  ])('is left alone once somebody has %s its draft, and the next one is paid beside it', async (_, edit) => {
    const { phone, customer } = await renewing();
    const { id } = await latestInvoice(customer);
    await stripe.invoices.update(id, edit);
    await fetchByCron(customer);
    expect(await latestInvoice(customer)).toMatchObject({ id, status: 'draft' });
    expect(await usageOf(phone)).toMatchObject({ allowed: false, used: 30 });
    // Stripe itself charges a marked draft after an hour.
    await stripe.invoices.update(id, { auto_advance: false });
    await sandbox.advanceStripe(phone, week);
    for (let times = 0; times < 2; times += 1) await fetchByCron(customer);
    expect((await stripe.invoices.retrieve(id)).status).toBe('draft');
    expect(await paymentsOf(customer)).toHaveLength(2);
    expect(await usageOf(phone)).toMatchObject({ allowed: true, used: 0, limit: 30 });
  });

  it('of two subscriptions, which grant the better plan and are logged, is charged once for each', async () => {
    const person = await newSubscriber('basic');
    const { customer } = person;
    const { default_payment_method: card } = await subscriptionOf(customer);
    const items = [{ price: await priceOf('premium') }];
    await stripe.subscriptions.create({ customer, items, default_payment_method: card as string });
    await sandbox.advanceStripe(person.phone, week);
    expect((await stripe.invoices.list({ customer, status: 'draft' })).data).toHaveLength(2);
    await parallel(3, () => fetchByCron(customer));
    await advance(person, 2 * hour);
    expect((await paymentsOf(customer)).toSorted((one, other) => one - other)).toEqual([1199, 1199, 2999, 2999]);
    expect(await usageOf(person.phone)).toMatchObject({ used: 0, limit: 70, tier: 'premium' });
    expect(logLines('subscription_doubled')).toContainEqual(expect.objectContaining({ customer }));
  });

  it('that was voided opens nothing and is not charged', async () => {
    const person = await renewing();
    const { id } = await latestInvoice(person.customer);
    await stripe.invoices.finalizeInvoice(id, { auto_advance: false });
    await stripe.invoices.voidInvoice(id);
    await advance(person, 2 * hour);
    expect(await usageOf(person.phone)).toMatchObject({ allowed: false, used: 30 });
    expect(await paymentsOf(person.customer)).toHaveLength(1);
  });

  it('that the owner has given up opens nothing, although Stripe calls the subscription active', async () => {
    const person = await spent('basic', 30);
    const { phone, customer } = person;
    await advance(person, week + 2 * hour);
    await stripe.invoices.markUncollectible((await latestInvoice(customer)).id);
    await advance(person, 0);
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect(await usageOf(phone)).toMatchObject({ allowed: false, used: 30, limit: 30 });
    await sandbox.card(phone, false);
    await advance(person, week);
    await fetchByCron(customer);
    expect(await usageOf(phone)).toMatchObject({ allowed: true, used: 0, limit: 30 });
    expect(await paymentsOf(customer)).toHaveLength(2);
  });

  it('gives no fresh allowance while it is unpaid, nor do the three after it, until the latest is paid', async () => {
    const person = await spent('platinum', 160);
    const { phone, token, customer } = person;
    await sandbox.stripeSettings(phone, { afterRetries: 'past_due' });
    await sandbox.advanceStripe(phone, week);
    expect((await post(phone)).body).toMatchObject({ allowed: false, used: 160 });
    await fetchByCron(customer);
    expect((await latestInvoice(customer)).next_payment_attempt).not.toBeNull();
    for (const pause of [0, 2 * hour, week, week, week]) {
      await advance(person, pause);
      expect(await planOf(token)).toEqual(['platinum', 'past_due']);
      expect(await usageOf(phone)).toMatchObject({ allowed: false, used: 160, remaining: 0 });
      expect((await post(phone)).body).toMatchObject({ allowed: false, used: 160 });
    }
    await payLatest(person);
    const { items } = await subscriptionOf(customer);
    const resetsAt = new Date(items.data[0]!.current_period_end * 1000).toISOString();
    expect(await usageOf(phone)).toMatchObject({ allowed: true, used: 0, resetsAt });
    expect(await metadataOf(token)).toMatchObject({ subscriptionStatus: 'active', renewalDate: resetsAt });
  });

  it('falls to free when the retries are over, by cancellation or as unpaid', async () => {
    const retries = [
      { days: 15, settings: { afterRetries: 'cancel' }, status: 'active' },
      { days: 6, settings: { retries: 'five-days', afterRetries: 'unpaid' }, status: 'unpaid' },
    ] as const;
    for (const { days, settings, status } of retries) {
      const person = await spent('basic', 30);
      await sandbox.stripeSettings(person.phone, settings);
      await advance(person, week + days * 24 * hour);
      expect(await planOf(person.token)).toEqual(['free', status]);
      expect(await paymentsOf(person.customer)).toHaveLength(1);
    }
  });
});

it('an upgrade whose proration fails grants nothing until it is paid, and opens no week', async () => {
  const person = await spent('basic', 30);
  const { phone, token, customer } = person;
  await changePrice(customer, await priceOf('platinum'), { proration_behavior: 'always_invoice' });
  await advance(person, 0);
  expect(await planOf(token)).toEqual(['basic', 'past_due']);
  expect(await usageOf(phone)).toMatchObject({ allowed: false, used: 30, limit: 30 });
  await payLatest(person);
  expect(await planOf(token)).toEqual(['platinum', 'active']);
  expect(await usageOf(phone)).toMatchObject({ allowed: true, used: 30, limit: 160 });
});

describe('a dearer plan', () => {
  it('begins a new, fully paid week, also minutes before the renewal', async () => {
    const person = await newSubscriber('basic');
    const { phone, token, customer } = person;
    await post(phone, 30);
    await advance(person, week - 15 * 60);
    const before = (await subscriptionOf(customer)).items.data[0]!;
    expect((await switchPlan(token, 'platinum')).status).toBe(303);
    await advance(person, 0);
    // At most the last 15 minutes of $11.99 are credited.
    expect((await paymentsOf(customer))[0]).toBeGreaterThanOrEqual(7999 - 3);
    const changed = (await subscriptionOf(customer)).items.data[0]!;
    expect(changed.current_period_start).toBeLessThan(before.current_period_end);
    expect(changed.current_period_end - changed.current_period_start).toBe(week);
    const resetsAt = new Date(changed.current_period_end * 1000).toISOString();
    expect(await usageOf(phone)).toMatchObject({ used: 0, limit: 160, tier: 'platinum', resetsAt });
    expect((await metadataOf(token)).renewalDate).toBe(resetsAt);
    await post(phone, 100);
    await post(phone, 60);

    await switchPlan(token, 'basic');
    await advance(person, 0);
    expect(await planOf(token)).toEqual(['platinum', 'downgrade_scheduled']);
    expect((await metadataOf(token)).scheduledDowngradeTierId).toBe('basic');
    expect(await usageOf(phone)).toMatchObject({ used: 160, remaining: 0 });
    await advance(person, week + 2 * hour);
    expect(await usageOf(phone)).toMatchObject({ used: 0, limit: 30, tier: 'basic' });
    expect((await paymentsOf(customer))[0]).toBe(1199);
  });

  it('changes nothing when its payment is declined', async () => {
    const person = await spent('basic', 30);
    const before = await usageOf(person.phone);
    expect((await switchPlan(person.token, 'platinum')).status).toBe(402);
    await advance(person, 0);
    expect(await usageOf(person.phone)).toEqual(before);
    expect(await planOf(person.token)).toEqual(['basic', 'active']);
    expect(await paymentsOf(person.customer)).toHaveLength(1);
  });
});

describe('a user whose payment is due', () => {
  /** Saves another card on the page to which the site leads. */
  async function updateCard({ token }: Subscriber, card: string): Promise<void> {
    const { body } = await buy(token);
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
    expect(await planOf(person.token)).toEqual(['basic', 'active']);
    expect(await usageOf(person.phone)).toMatchObject({ allowed: true, used: 0 });
    expect(await paymentsOf(person.customer)).toHaveLength(2);
  });

  it('is charged once for a new card that fails as well', async () => {
    const person = await spent('basic', 30);
    await advance(person, week + 2 * hour);
    const { attempt_count: before } = await latestInvoice(person.customer);
    await updateCard(person, '4000000000000341');
    await advance(person, 0);
    for (let fetched = 0; fetched < 3; fetched += 1) {
      await fetchByCron(person.customer);
      expect(await planOf(person.token)).toEqual(['basic', 'past_due']);
    }
    expect((await latestInvoice(person.customer)).attempt_count).toBe(before + 1);
  });
});

describe('a plan that is changed while its payment is due', () => {
  /** A user past due who has used the last paid week, with a card that works again; the open invoice's id. */
  async function owing(tier: Tier, limit: number, weeks = 1): Promise<Subscriber & { debt: string }> {
    const person = await spent(tier, limit);
    await sandbox.stripeSettings(person.phone, { afterRetries: 'past_due' });
    for (let renewal = 0; renewal < weeks; renewal += 1) await advance(person, week + 2 * hour);
    await sandbox.card(person.phone, false);
    await database.execute('update users set billing_watch_until = null where phone = ?', [person.phone]);
    return { ...person, debt: (await latestInvoice(person.customer)).id };
  }

  /** Chooses a plan in the plain portal, without a visit that the cron job watches. */
  async function switchUnseen(customer: string, tier: Tier): Promise<Response> {
    const { data } = await stripe.billingPortal.configurations.list({ active: true, limit: 100 });
    const { id: configuration } = data.find(({ metadata }) => metadata?.solace && !metadata.price)!;
    const { url } = await stripe.billingPortal.sessions.create({ customer, configuration });
    return inPortal(url, 'switch', { price: await priceOf(tier) });
  }

  /** Stripe calls the subscription active; the product knows that the week before is not paid. */
  async function expectOwed(person: Subscriber, tier: Tier, limit: number): Promise<void> {
    await advance(person, 0);
    expect((await subscriptionOf(person.customer)).status).toBe('active');
    expect(await planOf(person.token)).toEqual([tier, 'past_due']);
    expect(await usageOf(person.phone)).toMatchObject({ allowed: false, used: limit, limit });
    expect((await post(person.phone)).body).toMatchObject({ allowed: false, used: limit });
  }

  async function expectPaid({ phone, token }: Subscriber, tier: Tier, limit: number): Promise<void> {
    expect(await planOf(token)).toEqual([tier, 'active']);
    expect(await usageOf(phone)).toMatchObject({ allowed: true, used: 0, limit });
  }

  it('opens no week for a credit of unpaid weeks, however often, until the credited invoice is paid', async () => {
    const person = await owing('platinum', 160, 2);
    const { id } = await subscriptionOf(person.customer);
    expect((await switchUnseen(person.customer, 'platinum')).status).toBe(400);
    // What the portal refuses, the owner can do in the dashboard.
    const anew = { billing_cycle_anchor: { type: 'now' }, proration_behavior: 'always_invoice' } as const;
    for (let times = 0; times < 3; times += 1) {
      await stripe.subscriptions.update(id, anew);
      // Two hours have passed since the renewal.
      const { status, total } = await latestInvoice(person.customer);
      expect([status, total < 400]).toEqual(['paid', true]);
      await expectOwed(person, 'platinum', 160);
    }
    await stripe.invoices.pay(person.debt);
    await advance(person, 0);
    await expectPaid(person, 'platinum', 160);
  });

  it('to a dearer one opens no week for the credit of an unpaid one, and leads to the card, until that is paid', async () => {
    const person = await owing('basic', 30);
    const { phone, token, customer, debt } = person;
    await switchUnseen(customer, 'premium');
    expect((await latestInvoice(customer)).amount_paid).toBeLessThan(2999 - 1100);
    await sandbox.card(phone, true);
    await expectOwed(person, 'basic', 30);
    expect((await stripe.invoices.retrieve(debt)).status).toBe('open');
    const { portalUrl } = (await buy(token)).body;
    await fetchByCron(customer);
    await expectOwed(person, 'basic', 30);
    const saved = await inPortal(portalUrl, 'card', { card: '4242424242424242' });
    expect(saved.headers.get('location')).toContain('/auth/stripe-success');
    await fetchByCron(customer);
    await expectPaid(person, 'premium', 70);
  });

  it('pays the credited invoice too, once, with the card that has paid for the change', async () => {
    const person = await owing('basic', 30);
    await switchPlan(person.token, 'premium');
    await fetchByCron(person.customer);
    await fetchByCron(person.customer);
    await advance(person, 0);
    expect((await stripe.invoices.retrieve(person.debt)).status).toBe('paid');
    expect(await paymentsOf(person.customer)).toHaveLength(3);
    await expectPaid(person, 'premium', 70);
  });

  it('charges nobody who has cancelled for the credited invoice', async () => {
    const person = await owing('basic', 30);
    await switchUnseen(person.customer, 'premium');
    await expectOwed(person, 'basic', 30);
    expect((await call('POST', '/api/billing/cancel', { token: person.token })).status).toBe(200);
    await advance(person, 15 * 24 * hour);
    expect(await stripe.invoices.retrieve(person.debt)).toMatchObject({ status: 'open', auto_advance: false });
    expect(await paymentsOf(person.customer)).toHaveLength(2);
    expect((await planOf(person.token))[0]).toBe('free');
  });

  it('is paid together with the draft of a renewal that nobody has seen', async () => {
    const person = await newSubscriber('basic');
    await sandbox.advanceStripe(person.phone, week);
    const { id } = await latestInvoice(person.customer);
    await switchUnseen(person.customer, 'premium');
    expect((await stripe.invoices.retrieve(id)).status).toBe('draft');
    await advance(person, 0);
    expect((await stripe.invoices.retrieve(id)).status).toBe('paid');
    await expectPaid(person, 'premium', 70);
  });
});

it.each([
  [true, 'active', 0],
  [false, 'past_due', 30],
] as const)(
  'a renewal whose card needs authentication is past due until it gets it (%s)',
  async (succeeds, status, used) => {
    const { token, phone } = await newPerson();
    const { portalUrl } = (await buy(token, 'basic')).body;
    await verify(token, await complete(portalUrl, { card: '4000002760003184', authentication: 'complete' }));
    await post(phone, 30);
    const person = { phone, customer: await customerOf(phone) };
    await advance(person, week + 2 * hour);
    expect(await planOf(token)).toEqual(['basic', 'past_due']);
    expect(await usageOf(phone)).toMatchObject({ allowed: false, used: 30 });
    expect((await buy(token)).body.portalUrl).toContain('/invoice/');
    await sandbox.authenticate(phone, succeeds);
    await advance(person, 0);
    expect(await planOf(token)).toEqual(['basic', status]);
    expect(await usageOf(phone)).toMatchObject({ used });
  },
);

it('opens the right week for everybody when the events of many renewals arrive at once', async () => {
  const people = await parallel(8, () => newSubscriber('basic'));
  const renewals = await parallel(people.length, async (index) => {
    const { phone, customer } = people[index]!;
    await post(phone, 7);
    await deliver(customer);
    await sandbox.advanceStripe(phone, 4 * week);
    return newEventsOf(customer);
  });
  const events = renewals.flat().filter(({ type }) => type === 'customer.subscription.updated');
  expect(events.length).toBeGreaterThanOrEqual(32);
  const answers = await Promise.all(events.toSorted(() => Math.random() - 0.5).map((event) => postEvent(event)));
  expect(answers).toEqual(events.map(() => ({ status: 200, body: { received: true } })));

  for (const { phone, token, customer } of people) {
    const { items } = await subscriptionOf(customer);
    const { metadata, messagesUsedThisPeriod } = await profileOf(token);
    expect(Date.parse(metadata.renewalDate)).toBe(items.data[0]!.current_period_end * 1000);
    expect(messagesUsedThisPeriod).toBe(0);
    expect((await post(phone)).body).toMatchObject({ allowed: true, used: 1, resetsAt: metadata.renewalDate });
  }
});
