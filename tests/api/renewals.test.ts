import type { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { payRenewal } from '../../worker/billing/invoices.ts';
import { call, parallel, runCron } from './support/api.ts';
import {
  buy,
  inPortal,
  newSubscriber,
  pressUnseen,
  subscribe,
  type Subscriber,
  switchPlan,
} from './support/buying.ts';
import { advanceClock, day } from './support/clock.ts';
import { post, usageOf } from './support/contacts.ts';
import { metadataOf, newPerson, planOf, trialSession } from './support/person.ts';
import { logLines, startHeld } from './support/requests.ts';
import { database, sandbox, userRowOf } from './support/sandbox.ts';
import { advance, fetchByCron, hour, periodEnd, week } from './support/stripe-events.ts';
import {
  changePrice,
  latestInvoice,
  paymentsOf,
  priceOf,
  stripe,
  subscriptionOf,
} from './support/stripe.ts';
import type { Tier } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

type PauseCollection = Stripe.SubscriptionUpdateParams.PauseCollection;

/** A user whose card fails from now on, and who has used the allowance of a paid week, by default the first. */
async function spent(tier: Tier, limit: number, weeks = 1): Promise<Subscriber> {
  const person = await newSubscriber(tier);
  const { phone } = person;
  for (let renewal = 1; renewal < weeks; renewal += 1) await advance(phone, week + 2 * hour);
  await sandbox.card(phone, true);
  for (let left = limit; left > 0; left -= 100) await post(phone, Math.min(left, 100));
  expect(await usageOf(phone)).toMatchObject({
    used: limit,
    remaining: 0,
  });
  return person;
}

/** A user of the basic plan who has used it up, at the moment of the renewal. */
async function renewing(): Promise<Subscriber> {
  const person = await newSubscriber('basic');
  await post(person.phone, 30);
  await sandbox.advanceStripe(person.phone, week);
  return person;
}

/** The card of a user works again and pays the latest invoice. */
async function payLatest({ phone, customer }: Subscriber): Promise<void> {
  await sandbox.card(phone, false);
  await stripe.invoices.pay((await latestInvoice(customer)).id);
  await advance(phone, 0);
}

describe('a renewal', () => {
  it('is paid as soon as it is seen, and opens the new week', async () => {
    const { phone, customer } = await renewing();
    expect(await latestInvoice(customer)).toMatchObject({
      status: 'draft',
      auto_advance: true,
    });
    // The old week goes on with what is left of it, also by our clock.
    advanceClock(7 * day + hour * 1000);
    expect((await post(phone)).body).toMatchObject({
      allowed: false,
      used: 30,
    });
    await runCron();
    expect(await latestInvoice(customer)).toMatchObject({ status: 'paid' });
    expect(await usageOf(phone)).toMatchObject({
      used: 0,
      allowed: true,
      tier: 'basic',
    });
    await advance(phone, 2 * hour);
    expect(await paymentsOf(customer)).toHaveLength(2);
  });

  it('is charged once by many workers that see it at once', async () => {
    const { phone, customer } = await newSubscriber('premium');
    await sandbox.advanceStripe(phone, week);
    const { id } = await subscriptionOf(customer);
    const read = () => stripe.subscriptions.retrieve(id, { expand: ['latest_invoice'] });
    const seen = await parallel(5, read);
    const paid = await parallel(seen.length, (index) => payRenewal(stripe, seen[index]!, 1));
    expect(paid).toEqual(seen.map(() => true));
    expect(await payRenewal(stripe, seen[0]!, 2)).toBe(true);
    expect(await payRenewal(stripe, await read(), 1)).toBe(false);
    expect(await paymentsOf(customer)).toHaveLength(2);
    await advance(phone, 2 * hour);
    expect(await usageOf(phone)).toMatchObject({
      used: 0,
      tier: 'premium',
    });
  });

  const finalize = async (id: string) => (await stripe.invoices.finalizeInvoice(id)).id;
  const edits: [what: string, status: string, edit: (id: string) => Promise<unknown>][] = [
    ['stopped', 'draft', (id) => stripe.invoices.update(id, { auto_advance: false })],
    ['marked', 'draft', (id) => stripe.invoices.update(id, { metadata: { hold: 'until Monday' } })],
    ['voided', 'void', async (id) => stripe.invoices.voidInvoice(await finalize(id))],
    [
      'given up',
      'uncollectible',
      async (id) => stripe.invoices.markUncollectible(await finalize(id)),
    ],
  ];

  for (const [what, status, edit] of edits)
    it(
      `opens nothing once somebody has ${what} its invoice, and the next one does`,
      fullUnless(what === 'voided'),
      async () => {
        const { phone, customer } = await renewing();
        const { id } = await latestInvoice(customer);
        await edit(id);
        await fetchByCron(customer);
        expect(await latestInvoice(customer)).toMatchObject({ id, status });
        expect((await subscriptionOf(customer)).status).toBe('active');
        expect(await usageOf(phone)).toMatchObject({
          allowed: false,
          used: 30,
        });
        // Stripe itself charges a marked draft after an hour.
        if (status === 'draft') await stripe.invoices.update(id, { auto_advance: false });
        await sandbox.advanceStripe(phone, week);
        for (let times = 0; times < 2; times += 1) await fetchByCron(customer);
        expect((await stripe.invoices.retrieve(id)).status).toBe(status);
        expect(await paymentsOf(customer)).toHaveLength(2);
        expect(await usageOf(phone)).toMatchObject({
          allowed: true,
          used: 0,
          limit: 30,
        });
      },
    );

  it('of two subscriptions, which grant the better plan and are logged, is charged once for each', async () => {
    const { phone, customer } = await newSubscriber('basic');
    const { default_payment_method: card } = await subscriptionOf(customer);
    const items = [{ price: await priceOf('premium') }];
    await stripe.subscriptions.create({
      customer,
      items,
      default_payment_method: card as string,
    });
    await sandbox.advanceStripe(phone, week);
    expect(
      (
        await stripe.invoices.list({
          customer,
          status: 'draft',
        })
      ).data,
    ).toHaveLength(2);
    await parallel(3, () => fetchByCron(customer));
    await advance(phone, 2 * hour);
    expect((await paymentsOf(customer)).toSorted((one, other) => one - other)).toEqual([
      1199, 1199, 2999, 2999,
    ]);
    expect(await usageOf(phone)).toMatchObject({
      used: 0,
      limit: 70,
      tier: 'premium',
    });
    expect(logLines('subscription_doubled')).toContainEqual(expect.objectContaining({ customer }));
  });

  it('gives no fresh allowance while it is unpaid, nor do the three after it, until the latest is paid', async () => {
    const person = await spent('platinum', 160, 2);
    const { phone, token, customer } = person;
    await sandbox.stripeSettings(phone, { afterRetries: 'past_due' });
    await sandbox.advanceStripe(phone, week);
    expect((await post(phone)).body).toMatchObject({
      allowed: false,
      used: 160,
    });
    await fetchByCron(customer);
    expect((await latestInvoice(customer)).next_payment_attempt).not.toBeNull();
    for (const pause of [0, 2 * hour, week, week, week]) {
      await advance(phone, pause);
      expect(await planOf(token)).toEqual(['platinum', 'past_due']);
      expect((await post(phone)).body).toMatchObject({
        allowed: false,
        used: 160,
        remaining: 0,
      });
    }
    await payLatest(person);
    const resetsAt = await periodEnd(customer);
    expect(await usageOf(phone)).toMatchObject({
      allowed: true,
      used: 0,
      resetsAt,
    });
    expect(await metadataOf(token)).toMatchObject({
      subscriptionStatus: 'active',
      renewalDate: resetsAt,
    });
  });
});

it('an upgrade whose proration fails grants nothing until it is paid, and opens no week', async () => {
  const person = await spent('basic', 30);
  const { phone, token, customer } = person;
  await changePrice(customer, await priceOf('platinum'), { proration_behavior: 'always_invoice' });
  await advance(phone, 0);
  expect(await planOf(token)).toEqual(['basic', 'past_due']);
  expect(await usageOf(phone)).toMatchObject({
    allowed: false,
    used: 30,
    limit: 30,
  });
  await payLatest(person);
  expect(await planOf(token)).toEqual(['platinum', 'active']);
  expect(await usageOf(phone)).toMatchObject({
    allowed: true,
    used: 30,
    limit: 160,
  });
});

it('a dearer plan begins a new, fully paid week, also minutes before the renewal', async () => {
  const { phone, token, customer } = await newSubscriber('basic');
  await post(phone, 30);
  await advance(phone, week - 15 * 60);
  expect((await switchPlan(token, 'platinum')).status).toBe(303);
  await advance(phone, 0);
  // At most the last 15 minutes of $11.99 are credited.
  expect((await paymentsOf(customer))[0]).toBeGreaterThanOrEqual(7999 - 3);
  const resetsAt = await periodEnd(customer);
  expect(await usageOf(phone)).toMatchObject({
    used: 0,
    limit: 160,
    tier: 'platinum',
    resetsAt,
  });
  expect((await metadataOf(token)).renewalDate).toBe(resetsAt);
});

describe('a user whose payment is due', () => {
  /** Saves another card on the page to which the site leads. */
  async function updateCard(token: string, card: string): Promise<void> {
    const { portalUrl } = (await buy(token)).body;
    expect(portalUrl).toContain('/portal/');
    expect((await inPortal(portalUrl, 'card', { card })).status).toBe(303);
    await runCron();
  }

  for (const [status, tier, settings, later] of [
    ['past_due', 'basic', { afterRetries: 'cancel' }, 2 * hour],
    ['unpaid', 'free', { retries: 'five-days', afterRetries: 'unpaid' }, 6 * 24 * hour],
  ] as const)
    it(
      `pays it by saving a new card, while ${status} with the ${tier} plan`,
      fullUnless(status === 'past_due'),
      async () => {
        const { phone, token, customer } = await spent('basic', 30);
        await sandbox.stripeSettings(phone, settings);
        await advance(phone, week + later);
        expect(await planOf(token)).toEqual([tier, status]);
        await updateCard(token, '4242424242424242');
        expect((await subscriptionOf(customer)).status).toBe('active');
        expect(await planOf(token)).toEqual(['basic', 'active']);
        expect(await usageOf(phone)).toMatchObject({
          allowed: true,
          used: 0,
        });
        expect(await paymentsOf(customer)).toHaveLength(2);
      },
    );

  it('is charged once for a new card that fails as well', async () => {
    const { phone, token, customer } = await spent('basic', 30);
    await advance(phone, week + 2 * hour);
    const { attempt_count: before } = await latestInvoice(customer);
    await updateCard(token, '4000000000000341');
    for (let fetched = 0; fetched < 3; fetched += 1) {
      await fetchByCron(customer);
      expect(await planOf(token)).toEqual(['basic', 'past_due']);
    }
    expect((await latestInvoice(customer)).attempt_count).toBe(before + 1);
  });
});

describe('a plan that is changed while its payment is due', () => {
  /** A user past due who has used the last paid week, with a card that works again; the open invoice's id. */
  async function owing(
    tier: Tier,
    limit: number,
    weeks = 1,
  ): Promise<Subscriber & { debt: string }> {
    const person = await spent(tier, limit);
    const { phone, customer } = person;
    await sandbox.stripeSettings(phone, { afterRetries: 'past_due' });
    for (let renewal = 0; renewal < weeks; renewal += 1) await advance(phone, week + 2 * hour);
    await sandbox.card(phone, false);
    await database.execute('update users set billing_watch_until = null where phone = ?', [phone]);
    return { ...person, debt: (await latestInvoice(customer)).id };
  }

  const switchUnseen = async (customer: string, tier: Tier) =>
    pressUnseen(customer, 'switch', { price: await priceOf(tier) });

  /** Stripe calls the subscription active; the product knows that the week before is not paid. */
  async function expectOwed(
    { phone, token, customer }: Subscriber,
    tier: Tier,
    limit: number,
  ): Promise<void> {
    await advance(phone, 0);
    expect((await subscriptionOf(customer)).status).toBe('active');
    expect(await planOf(token)).toEqual([tier, 'past_due']);
    expect((await post(phone)).body).toMatchObject({
      allowed: false,
      used: limit,
      limit,
    });
  }

  async function expectPaid(
    { phone, token }: Subscriber,
    tier: Tier,
    limit: number,
  ): Promise<void> {
    await advance(phone, 0);
    expect(await planOf(token)).toEqual([tier, 'active']);
    expect(await usageOf(phone)).toMatchObject({
      allowed: true,
      used: 0,
      limit,
    });
  }

  it('opens no week for a credit of unpaid weeks, however often, until the credited invoice is paid', async () => {
    const person = await owing('platinum', 160, 2);
    const { customer, debt } = person;
    const { id } = await subscriptionOf(customer);
    // The portal refuses that; the owner can do it in the dashboard.
    const anew = {
      billing_cycle_anchor: { type: 'now' },
      proration_behavior: 'always_invoice',
    } as const;
    for (let times = 0; times < 3; times += 1) {
      await stripe.subscriptions.update(id, anew);
      // Two hours have passed since the renewal.
      const { status, total } = await latestInvoice(customer);
      expect([status, total < 400]).toEqual(['paid', true]);
      await expectOwed(person, 'platinum', 160);
    }
    await stripe.invoices.pay(debt);
    await expectPaid(person, 'platinum', 160);
  });

  it(
    'to a dearer one opens no week for the credit of an unpaid one, and leads to the card, until that is paid',
    { tags: ['full'] },
    async () => {
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
    },
  );

  it('pays the credited invoice too, once, with the card that has paid for the change', async () => {
    const person = await owing('basic', 30);
    const { token, customer, debt } = person;
    await switchPlan(token, 'premium');
    for (let times = 0; times < 2; times += 1) await fetchByCron(customer);
    await expectPaid(person, 'premium', 70);
    expect((await stripe.invoices.retrieve(debt)).status).toBe('paid');
    expect(await paymentsOf(customer)).toHaveLength(3);
  });

  it('charges nobody who has cancelled for the credited invoice', async () => {
    const person = await owing('basic', 30);
    const { phone, token, customer, debt } = person;
    await switchUnseen(customer, 'premium');
    await expectOwed(person, 'basic', 30);
    expect((await call('POST', '/api/billing/cancel', { token })).status).toBe(200);
    await advance(phone, 15 * 24 * hour);
    expect(await stripe.invoices.retrieve(debt)).toMatchObject({
      status: 'open',
      auto_advance: false,
    });
    expect(await paymentsOf(customer)).toHaveLength(2);
    expect((await planOf(token))[0]).toBe('free');
  });

  it('is paid together with the draft of a renewal that nobody has seen', async () => {
    const person = await newSubscriber('basic');
    const { phone, customer } = person;
    await sandbox.advanceStripe(phone, week);
    const { id } = await latestInvoice(customer);
    await switchUnseen(customer, 'premium');
    expect((await stripe.invoices.retrieve(id)).status).toBe('draft');
    await expectPaid(person, 'premium', 70);
    expect((await stripe.invoices.retrieve(id)).status).toBe('paid');
  });
});

for (const [succeeds, status, used] of [
  [true, 'active', 0],
  [false, 'past_due', 30],
] as const)
  it(
    `a renewal that needs authentication is past due until it gets it: ${succeeds}`,
    fullUnless(succeeds),
    async () => {
      const { token, phone } = await newPerson();
      await subscribe(token, 'basic', {
        card: '4000002760003184',
        authentication: 'complete',
      });
      await post(phone, 30);
      await advance(phone, week + 2 * hour);
      expect(await planOf(token)).toEqual(['basic', 'past_due']);
      expect(await usageOf(phone)).toMatchObject({
        allowed: false,
        used: 30,
      });
      expect((await buy(token)).body.portalUrl).toContain('/invoice/');
      await sandbox.authenticate(phone, succeeds);
      await advance(phone, 0);
      expect(await planOf(token)).toEqual(['basic', status]);
      expect(await usageOf(phone)).toMatchObject({ used });
    },
  );

describe('a paused collection', () => {
  const untilNotice = { status: 'paused', resumesAtDate: null };

  async function pause(customer: string, pauseCollection: PauseCollection) {
    const { id } = await subscriptionOf(customer);
    await stripe.subscriptions.update(id, { pause_collection: pauseCollection });
  }

  for (const behavior of ['void', 'keep_as_draft', 'mark_uncollectible'] as const)
    it(
      `with ${behavior} keeps the paid week, then counts the free plan until a week is paid again`,
      fullUnless(behavior === 'void'),
      async () => {
        const { phone, token, customer } = await newSubscriber('premium');
        await post(phone, 70);
        const end = await periodEnd(customer);
        const resumes = Math.floor(Date.parse(end) / 1000) + 3 * 24 * hour;
        await pause(customer, { behavior, resumes_at: resumes });
        await advance(phone, 0);
        const collectionPause = {
          status: 'paused',
          resumesAtDate: new Date(resumes * 1000).toISOString(),
        };
        expect(await planOf(token)).toEqual(['premium', 'active']);
        expect(await metadataOf(token)).toMatchObject({
          renewalDate: end,
          collectionPause,
        });
        expect(await usageOf(phone)).toMatchObject({
          allowed: false,
          used: 70,
        });

        await advance(phone, week + 2 * hour);
        for (let times = 0; times < 2; times += 1) {
          expect(await planOf(token)).toEqual(['free', 'active']);
          expect(await metadataOf(token)).toMatchObject({
            renewalDate: null,
            collectionPause,
          });
          await fetchByCron(customer);
        }
        const free = await usageOf(phone);
        expect(free).toMatchObject({
          allowed: true,
          used: 0,
          limit: 5,
        });
        expect(Date.parse(free.resetsAt)).toBeGreaterThan(Date.now());

        await advance(phone, 3 * 24 * hour);
        expect(await planOf(token)).toEqual(['free', 'active']);
        expect(await metadataOf(token)).toMatchObject({
          renewalDate: await periodEnd(customer),
          collectionPause: { status: 'over', resumesAtDate: null },
        });
        await fetchByCron(customer);
        expect(await usageOf(phone)).toMatchObject({ tier: 'free' });
        expect(await paymentsOf(customer)).toHaveLength(1);

        await advance(phone, 4 * 24 * hour);
        await advance(phone, 2 * hour);
        expect(await planOf(token)).toEqual(['premium', 'active']);
        expect(await metadataOf(token)).not.toHaveProperty('collectionPause');
        expect(await usageOf(phone)).toMatchObject({
          allowed: true,
          used: 0,
          limit: 70,
        });
        expect(await paymentsOf(customer)).toHaveLength(2);
      },
    );

  for (const [behavior, when] of [
    ['void', 'while it lasts'],
    ['mark_uncollectible', 'while it lasts'],
    ['keep_as_draft', 'after it'],
  ] as const)
    it(
      `with ${behavior} grants a dearer plan that is paid ${when}`,
      fullUnless(behavior !== 'void'),
      async () => {
        const { phone, token, customer } = await newSubscriber('basic');
        const { id } = await subscriptionOf(customer);
        const end = () => stripe.subscriptions.update(id, { pause_collection: '' });
        await pause(customer, { behavior });
        await advance(phone, week + 2 * hour);
        expect(await planOf(token)).toEqual(['free', 'active']);

        if (when === 'after it') await end();
        await switchPlan(token, 'premium');
        await advance(phone, 0);
        expect(await paymentsOf(customer)).toHaveLength(2);
        for (let times = 0; times < 2; times += 1) {
          expect(await planOf(token)).toEqual(['premium', 'active']);
          expect(await usageOf(phone)).toMatchObject({
            allowed: true,
            used: 0,
            limit: 70,
          });
          await end();
          await fetchByCron(customer);
        }
      },
    );

  it(
    'that is over ends no week of a trial that begins while it is fetched',
    { tags: ['full'] },
    async () => {
      const { phone, customer } = await newSubscriber('basic');
      await pause(customer, { behavior: 'void' });
      await advance(phone, week + 2 * hour);
      const { id } = await subscriptionOf(customer);
      await stripe.subscriptions.update(id, { pause_collection: '' });
      const marks = ['GET', '/v1/subscriptions', customer];
      const fetched = await startHeld(() => fetchByCron(customer), ...marks);
      await trialSession(phone);
      const { resetsAt } = await usageOf(phone);
      await fetched.finish();
      expect(await userRowOf({ phone })).toMatchObject({ collection_pause: 'over' });
      expect(await usageOf(phone)).toMatchObject({
        tier: 'premium',
        used: 0,
        resetsAt,
      });
    },
  );

  it('leaves a subscription that can be cancelled, also after the paid week', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    await pause(customer, { behavior: 'void' });
    await advance(phone, week + 2 * hour);
    const shown = await call('GET', '/api/billing/subscription', { token });
    expect(shown.body.subscription).toMatchObject({
      tier: 'free',
      collectionPause: untilNotice,
    });
    const cancelAtDate = await periodEnd(customer);
    const cancelled = await call('POST', '/api/billing/cancel', { token });
    expect(cancelled).toMatchObject({
      status: 200,
      body: { cancelAtDate },
    });
    expect(await metadataOf(token)).toMatchObject({
      subscriptionStatus: 'cancellation_scheduled',
      collectionPause: untilNotice,
    });
    await advance(phone, week);
    expect(await planOf(token)).toEqual(['free', 'active']);
    expect(await metadataOf(token)).not.toHaveProperty('collectionPause');
    expect(await paymentsOf(customer)).toHaveLength(1);
  });
});
