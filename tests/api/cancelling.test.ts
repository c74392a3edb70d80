import { describe, expect, it } from 'vitest';
import { call, parallel } from './support/api.ts';
import {
  checkOut,
  newSubscriber,
  onTrial,
  pressUnseen,
  switchPlan,
  verify,
  cancel,
  resume,
} from './support/buying.ts';
import { advanceClock, day } from './support/clock.ts';
import { metadataOf, newPerson, planOf, trialSession, userOf } from './support/person.ts';
import { costOf } from './support/requests.ts';
import { during, run, sandbox, totalsOfToday } from './support/sandbox.ts';
import { advance, fetchByCron, hour, periodEnd, week } from './support/stripe-events.ts';
import { customerOf, latestInvoice, paymentsOf, stripe, subscriptionOf } from './support/stripe.ts';
import { fullUnless } from '../long-tours.ts';

describe('cancelling', () => {
  const conflict = {
    status: 409,
    body: { success: false, code: 'conflict' },
  };
  /** What can be cancelled, also if a trial hides it. */
  const subscriptionFor = async (token: string) => {
    const response = await call('GET', '/api/billing/subscription', { token });
    expect([response.status, costOf(response)]).toEqual([200, 1]);
    return response.body.subscription;
  };

  it('ends the plan with its paid week, may be repeated, and may be taken back', async () => {
    const { phone, token, customer } = await newSubscriber('premium');
    const cancelAtDate = await periodEnd(customer);
    const first = await cancel(token);
    expect(costOf(first)).toBeLessThanOrEqual(3);
    for (const { status, body } of [first, ...(await parallel(2, () => cancel(token)))])
      expect([status, body]).toEqual([200, { success: true, cancelAtDate }]);
    expect(await metadataOf(token)).toMatchObject({
      subscriptionStatus: 'cancellation_scheduled',
      cancelAtDate,
    });
    for (let time = 0; time < 2; time += 1) {
      expect(await resume(token)).toMatchObject({
        status: 200,
        body: { success: true },
      });
      expect(await metadataOf(token)).toMatchObject({
        subscriptionStatus: 'active',
        cancelAtDate: null,
      });
    }
    await cancel(token);
    await advance(phone, week + 2 * hour);
    expect(await planOf(token)).toEqual(['free', 'active']);
    expect(await paymentsOf(customer)).toHaveLength(1);
    expect(await resume(token)).toMatchObject(conflict);
    expect(await cancel(token)).toMatchObject(conflict);
  });

  it('counts the cancellation of a day once, however it came, and a reason only after it', async () => {
    const say = (token: string, reason: string) =>
      call('POST', '/api/billing/cancel-reason', {
        token,
        body: { reason },
      });
    const { token, customer } = await newSubscriber('basic');
    // A day of its own: no other test counts on it.
    advanceClock(20 * day);
    expect(await say(token, 'price')).toMatchObject(conflict);
    await parallel(3, () => cancel(token));
    expect(await totalsOfToday()).toEqual([
      {
        kind: 'cancellation',
        detail: '',
        n: 1,
      },
    ]);
    await resume(token);
    await pressUnseen(customer, 'cancel');
    await cancel(token);
    expect(await say(token, 'cheaper elsewhere')).toMatchObject({
      status: 400,
      body: { code: 'invalid_field' },
    });
    const [answer] = await parallel(5, () => say(token, 'price'));
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true },
    });
    expect(costOf(answer!)).toBe(1);
    expect((await say(token, 'other')).status).toBe(200);
    const reason = { kind: 'cancel_reason', detail: 'price', n: 1 };
    expect(await totalsOfToday()).toEqual([
      reason,
      {
        kind: 'cancellation',
        detail: '',
        n: 2,
      },
    ]);
    // The cleanup stops at events that have not happened yet.
    const ahead = 'select 1 from rate_limit_events where subject like ? and at > ?';
    expect((await run(ahead, `%${userOf(token)}%`, Date.now())).rows).toEqual([]);
    // A cancellation in the portal has a date of its own.
    await resume(token);
    expect(await metadataOf(token)).toMatchObject({
      subscriptionStatus: 'active',
      cancelAtDate: null,
    });
  });

  it('counts another reason after the cancellation was taken back', async () => {
    const say = (token: string, reason: string) =>
      call('POST', '/api/billing/cancel-reason', {
        token,
        body: { reason },
      });
    const { token } = await newSubscriber('basic');
    advanceClock(21 * day);
    for (const reason of ['price', 'other']) {
      await cancel(token);
      await say(token, reason);
      await resume(token);
    }
    const reasons = (await totalsOfToday()).filter(({ kind }) => kind === 'cancel_reason');
    expect(reasons.map(({ detail, n }) => [detail, n])).toEqual([
      ['other', 1],
      ['price', 1],
    ]);
  });

  it('undoes a scheduled change first, which a resumption does not restore', async () => {
    const { token } = await newSubscriber('platinum');
    await switchPlan(token, 'basic');
    const unscheduled = {
      subscriptionTier: 'platinum',
      scheduledDowngradeTierId: null,
    };
    await cancel(token);
    expect(await metadataOf(token)).toMatchObject({
      ...unscheduled,
      subscriptionStatus: 'cancellation_scheduled',
    });
    await resume(token);
    expect(await metadataOf(token)).toMatchObject({
      ...unscheduled,
      subscriptionStatus: 'active',
    });
  });

  for (const tier of ['premium', 'basic'] as const)
    it(
      `ends ${tier} behind a trial, and a resumption restores it`,
      fullUnless(tier === 'basic'),
      async () => {
        const { phone, token } = await onTrial('premium');
        await verify(token, await checkOut(token, tier));
        const [metadata, subscription] = [await metadataOf(token), await subscriptionFor(token)];
        expect(subscription).toMatchObject({
          tier,
          startDate: metadata.renewalDate,
          cancelAtDate: null,
        });
        const { cancelAtDate } = (await cancel(token)).body;
        const customer = await customerOf(phone);
        expect(Date.parse(cancelAtDate)).toBe((await subscriptionOf(customer)).trial_end! * 1000);
        expect(await metadataOf(token)).toMatchObject({
          subscriptionTier: 'premium',
          scheduledDowngradeTierId: null,
        });
        expect(await subscriptionFor(token)).toMatchObject({
          tier,
          startDate: metadata.renewalDate,
          cancelAtDate,
        });
        await resume(token);
        expect([await metadataOf(token), await subscriptionFor(token)]).toEqual([
          metadata,
          subscription,
        ]);
        await cancel(token);
        await sandbox.advanceStripe(phone, 4 * 24 * hour);
        await fetchByCron(customer);
        expect((await subscriptionOf(customer)).status).toBe('canceled');
        expect(await paymentsOf(customer)).toEqual([]);
      },
    );

  it('ends during a trial the plan beside it, and nothing without one', async () => {
    expect(await subscriptionFor((await onTrial('premium')).token)).toBeNull();
    const { phone, token } = await newSubscriber('basic');
    const { renewalDate } = await metadataOf(token);
    await trialSession(phone, { tier: 'premium', days: 3 });
    const beside = {
      tier: 'basic',
      status: 'active',
      startDate: null,
      renewalDate,
      cancelAtDate: null,
    };
    expect(await planOf(token)).toEqual(['premium', 'trialing']);
    expect(await subscriptionFor(token)).toEqual(beside);
    const { cancelAtDate } = (await cancel(token)).body;
    expect(cancelAtDate).toBe(renewalDate);
    expect(await subscriptionFor(token)).toEqual({
      ...beside,
      status: 'cancellation_scheduled',
      cancelAtDate,
    });
  });

  /** Whether Stripe collects each open invoice, the newest first. */
  const collecting = async (customer: string) =>
    (await stripe.invoices.list({ customer, status: 'open' })).data.map(
      ({ auto_advance }) => auto_advance,
    );

  it('collects nothing more of a payment that is due, until it is taken back', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    await sandbox.card(phone, true);
    await advance(phone, week + 2 * hour);
    expect(await planOf(token)).toEqual(['basic', 'past_due']);
    expect((await cancel(token)).status).toBe(200);
    expect(await collecting(customer)).toEqual([false]);
    await resume(token);
    expect(await collecting(customer)).toEqual([true]);
    await cancel(token);
    await sandbox.card(phone, false);
    await sandbox.advanceStripe(phone, week);
    await fetchByCron(customer);
    expect(await planOf(token)).toEqual(['free', 'active']);
    expect(await paymentsOf(customer)).toHaveLength(1);
  });

  it('charges nothing for a renewal that nobody has paid yet, until it is taken back', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    await sandbox.advanceStripe(phone, week);
    expect((await cancel(token)).status).toBe(200);
    await advance(phone, 2 * hour);
    expect(await paymentsOf(customer)).toHaveLength(1);
    await resume(token);
    expect(await paymentsOf(customer)).toHaveLength(2);
    await cancel(token);
    await advance(phone, week + 2 * hour);
    expect(await planOf(token)).toEqual(['free', 'active']);
    expect(await paymentsOf(customer)).toHaveLength(2);
  });

  it('charges nothing for a renewal that falls due while an earlier payment is', async () => {
    const { phone, token, customer } = await newSubscriber('basic');
    await sandbox.stripeSettings(phone, { afterRetries: 'past_due' });
    await sandbox.card(phone, true);
    await advance(phone, week + 2 * hour);
    await sandbox.advanceStripe(phone, week - 2 * hour);
    await sandbox.card(phone, false);
    expect(await latestInvoice(customer)).toMatchObject({ status: 'draft' });
    expect((await cancel(token)).status).toBe(200);
    await advance(phone, 15 * 24 * hour);
    expect(await paymentsOf(customer)).toHaveLength(1);
  });

  describe('of a payment that is due', () => {
    async function resumeInTwoTries(token: string, customer: string) {
      const match = (await latestInvoice(customer)).id;
      expect(
        (
          await during(
            {
              stripe: {
                status: 500,
                match,
              },
            },
            () => resume(token),
          )
        ).status,
      ).toBe(503);
      expect((await subscriptionOf(customer)).cancel_at_period_end).toBe(false);
      expect((await resume(token)).status).toBe(200);
    }

    async function keepInPortal(_: string, customer: string) {
      await pressUnseen(customer, 'keep');
      await fetchByCron(customer);
    }

    it.each([
      ['a resumption that failed half way is repeated', resumeInTwoTries],
      ['the portal has taken it back', keepInPortal],
    ])('collects again once %s', async (_, undo) => {
      const { phone, token, customer } = await newSubscriber('basic');
      await sandbox.card(phone, true);
      await advance(phone, week + 2 * hour);
      await cancel(token);
      expect(await latestInvoice(customer)).toMatchObject({
        status: 'open',
        auto_advance: false,
      });
      await undo(token, customer);
      expect(await latestInvoice(customer)).toMatchObject({
        status: 'open',
        auto_advance: true,
        metadata: {},
      });
    });

    it('goes on collecting when it failed half way, and leaves alone what the owner has stopped', async () => {
      const { phone, token, customer } = await newSubscriber('basic');
      await sandbox.stripeSettings(phone, { afterRetries: 'past_due' });
      await sandbox.card(phone, true);
      await advance(phone, week + 2 * hour);
      const { id: earlier } = await latestInvoice(customer);
      await stripe.invoices.update(earlier, { auto_advance: false });
      await advance(phone, week);
      expect(await collecting(customer)).toEqual([true, false]);
      const match = 'cancel_at_period_end';
      expect(
        (
          await during(
            {
              stripe: {
                status: 500,
                match,
              },
            },
            () => cancel(token),
          )
        ).status,
      ).toBe(503);
      expect(await collecting(customer)).toEqual([false, false]);
      await fetchByCron(customer);
      expect(await collecting(customer)).toEqual([true, false]);
    });
  });

  it('is a conflict for somebody without a subscription', async () => {
    const { token } = await newPerson();
    for (const ask of [cancel, resume]) expect(await ask(token)).toMatchObject(conflict);
  });
});
