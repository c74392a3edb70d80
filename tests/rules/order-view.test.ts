import { describe, expect, it } from 'vitest';
import { orderObstacleOf, orderView, payerOf } from '../../web/rules/order-view.ts';
import { isOrdered, planOffer } from '../../web/rules/plan-offer.ts';
import { readUser } from '../../web/rules/user-profile.ts';
import { planIds, plans } from '../../worker/contract/plans.ts';

const renewalDate = '2026-12-01T09:00:00.000Z';

type Facts = {
  tier?: string;
  isTrial?: boolean;
  status?: string;
  scheduled?: string;
  cancelAtDate?: string;
};

const userWith = ({ tier = 'premium', isTrial, status, scheduled, cancelAtDate }: Facts) =>
  readUser({
    isTrial: isTrial ?? null,
    metadata: {
      subscriptionTier: tier,
      subscriptionStatus: (status ?? 'active') as never,
      scheduledDowngradeTierId: (scheduled ?? null) as never,
      cancelAtDate: cancelAtDate ?? null,
      renewalDate,
    },
  });

const trial = { isTrial: true, status: 'trialing' };

describe('the offers of the plans', () => {
  it.each<[facts: Facts, offers: string[]]>([
    [{ tier: 'free' }, ['current', 'choose', 'choose', 'choose']],
    [{}, ['manage', 'switch', 'current', 'switch']],
    [{ scheduled: 'basic' }, ['manage', 'scheduled', 'current', 'switch']],
    [trial, ['manage', 'switch', 'keep', 'switch']],
    [{ ...trial, scheduled: 'premium' }, ['manage', 'switch', 'scheduled', 'switch']],
    [{ ...trial, scheduled: 'basic' }, ['manage', 'scheduled', 'keep', 'switch']],
    [{ ...trial, tier: 'free' }, ['current', 'choose', 'choose', 'choose']],
  ])('with %j are %j', (facts, offers) => {
    expect(planIds.map((id) => planOffer(id, userWith(facts)))).toEqual(offers);
  });

  it('can be ordered unless the plan is had, booked or free', () => {
    const ordered = ['keep', 'choose', 'switch'] as const;
    const others = ['scheduled', 'current', 'manage'] as const;
    expect([...ordered, ...others].map(isOrdered)).toEqual([true, true, true, false, false, false]);
  });
});

describe('the review of an order', () => {
  it('says when the tried plan is charged, and what another one replaces', () => {
    const review = (facts: Facts) => orderView(plans.premium, userWith(facts), 'UTC');
    expect(review(trial)).toEqual({
      first: '$29.99 on December 1, 2026, when your trial ends. Nothing before that.',
      action: 'Go to payment details',
      concludes: true,
    });
    expect(review({ ...trial, scheduled: 'basic' })).toEqual({
      first:
        '$29.99 on December 1, 2026, when your trial ends, once you have changed the booked plan (Basic) on the next page. Nothing before that.',
      action: 'Go to the booked plan',
      concludes: true,
    });
  });

  const cancelAtDate = renewalDate;

  it.each<[facts: Facts, title: string | undefined, way: string | undefined]>([
    [{}, undefined, undefined],
    [trial, undefined, undefined],
    [{ ...trial, scheduled: 'basic' }, undefined, undefined],
    [{ status: 'past_due' }, 'First pay the open invoice', 'payments'],
    [{ status: 'unpaid', tier: 'free' }, 'First pay the open invoice', 'payments'],
    [
      { status: 'downgrade_scheduled', scheduled: 'basic' },
      'First take back the scheduled change',
      'payments',
    ],
    [
      { status: 'cancellation_scheduled', cancelAtDate },
      'First take back the cancellation',
      '/cancel',
    ],
    [{ ...trial, cancelAtDate }, 'First take back the cancellation', '/cancel'],
    [{ status: 'past_due', cancelAtDate }, 'First take back the cancellation', '/cancel'],
  ])('with %j says “%s” first', (facts, title, way) => {
    const obstacle = orderObstacleOf(userWith(facts), 'UTC');
    expect([obstacle?.title, obstacle?.way]).toEqual([title, way]);
  });

  it('beside a trial tells of what is paid already, and of a debt', () => {
    const user = userWith({ ...trial, scheduled: 'basic' });
    const base = {
      tier: 'basic',
      startDate: null,
      renewalDate,
      cancelAtDate: null,
    } as const;
    const paid = payerOf(user, { ...base, status: 'active' });
    expect(orderView(plans.premium, paid, 'UTC')).toMatchObject({
      first: '$29.99 today, less what is left of your present week. A new week begins at once.',
      action: 'Go to payment',
    });
    expect(
      orderObstacleOf(
        payerOf(user, {
          ...base,
          status: 'past_due',
        }),
        'UTC',
      )?.title,
    ).toBe('First pay the open invoice');
    const waiting = {
      ...base,
      status: 'trialing',
      startDate: renewalDate,
    } as const;
    for (const subscription of [null, 'unknown', waiting] as const)
      expect(payerOf(user, subscription)).toBe(user);
  });

  it('names the plan and the day of a scheduled change', () => {
    const scheduled = userWith({
      status: 'downgrade_scheduled',
      scheduled: 'basic',
    });
    expect(orderObstacleOf(scheduled, 'UTC')?.text).toContain(
      'A change to Basic on December 1, 2026 is scheduled.',
    );
  });
});
