import { describe, expect, it } from 'vitest';
import {
  managementButton,
  statusLine,
  usageView,
  type StatusInput,
} from '../../web/rules/account-view.ts';
import { planOf, plans, type Plan } from '../../worker/contract/plans.ts';
import type { CollectionPause, Subscription } from '../../worker/contract/schemas.ts';
import { readUser } from '../../web/rules/user-profile.ts';
import { cancelView, type TrialSubscription } from '../../web/rules/cancel-view.ts';
import { cancelWords as words } from '#words/cancel';

describe('the status of a plan', () => {
  const renewalDate = '2025-01-05T12:00:00Z';
  const cancelAtDate = '2025-02-01T12:00:00Z';
  const active = {
    subscriptionStatus: 'active',
    subscriptionTier: 'premium',
  };
  const none = {
    renewalDate: null,
    cancelAtDate: null,
    scheduledTierId: null,
    collectionPause: null,
  };
  const line = (facts: Partial<StatusInput>) => statusLine({ ...active, ...none, ...facts }, 'UTC');
  const trial = { subscriptionStatus: 'trialing' };
  const downgrade = {
    subscriptionStatus: 'downgrade_scheduled',
    scheduledTierId: 'basic',
  };
  const cancellation = { subscriptionStatus: 'cancellation_scheduled' };
  const scheduledTierId = 'basic';

  it.each<[facts: Partial<StatusInput>, text: string]>([
    [
      {
        ...trial,
        cancelAtDate,
        renewalDate,
      },
      'Trial ends on January 5, 2025',
    ],
    [
      { ...trial, renewalDate, scheduledTierId },
      'Trial ends on January 5, 2025 and will switch to Basic',
    ],
    [
      {
        ...trial,
        renewalDate,
        subscriptionTier: 'free',
      },
      'Trial ends on January 5, 2025',
    ],
    [{ ...trial, cancelAtDate }, 'Trial status error - please refresh'],
    [{ ...trial, scheduledTierId }, 'Trial will switch to Basic (error: missing date)'],
    [
      { ...downgrade, cancelAtDate, renewalDate },
      'Downgrade scheduled. Changes to Basic on February 1, 2025',
    ],
    [{ ...downgrade, renewalDate }, 'Downgrade scheduled. Changes to Basic on January 5, 2025'],
    [downgrade, 'Downgrade scheduled. Changes to Basic (error: missing date)'],
    [
      {
        ...downgrade,
        scheduledTierId: null,
        renewalDate,
      },
      'Please refresh to update status',
    ],
    [
      { ...cancellation, cancelAtDate },
      'Cancellation scheduled. Changes to Free on February 1, 2025',
    ],
    [
      { ...cancellation, renewalDate },
      'Cancellation scheduled. Changes to Free on January 5, 2025',
    ],
    [cancellation, 'Cancellation scheduled. Changes to Free (error: missing date)'],
    [{ subscriptionTier: 'free' }, 'Free plan - upgrade to get full access'],
    [{ subscriptionTier: 'inactive' }, 'Free plan - upgrade to get full access'],
    [{ subscriptionTier: 'unheard-of' }, 'Free plan - upgrade to get full access'],
    [{ renewalDate }, 'Renews on January 5, 2025'],
    [{}, 'Subscription error - please refresh'],
    [{ renewalDate: 'soon' }, 'Renews on an unknown date'],
    [{ subscriptionStatus: null, renewalDate }, 'Please refresh to update status'],
    [{ subscriptionStatus: 'incomplete', renewalDate }, 'Please refresh to update status'],
  ])('of %j is “%s”', (facts, text) => {
    expect(line(facts).text).toBe(text);
  });

  const pause = {
    status: 'paused',
    resumesAtDate: '2025-03-01T12:00:00Z',
  } as const;
  const over = { status: 'over', resumesAtDate: null } as const;
  const until = 'Payments are paused until March 1, 2025';
  const untilNotice = 'Payments are paused until further notice';
  const freePlan = 'The Free plan counts until a week is paid again.';
  const paidWeek =
    'Your paid week stays until January 5, 2025. After that, the Free plan counts until a week is paid again.';

  it.each<[what: string, facts: Partial<StatusInput>, text: string, hint: string]>([
    ['in a paid week', { renewalDate }, until, paidWeek],
    ['after it', { subscriptionTier: 'free' }, until, freePlan],
    [
      'beside a debt',
      { subscriptionTier: 'free', subscriptionStatus: 'past_due' },
      until,
      freePlan,
    ],
    [
      'without an end',
      {
        subscriptionTier: 'free',
        collectionPause: {
          ...pause,
          resumesAtDate: null,
        },
      },
      untilNotice,
      freePlan,
    ],
    [
      'beside a cancellation',
      { ...cancellation, cancelAtDate },
      'Cancellation scheduled. Changes to Free on February 1, 2025',
      until,
    ],
    ['beside a trial', { ...trial, renewalDate }, 'Trial ends on January 5, 2025', until],
  ])('names a pause %s', (_, facts, text, hint) => {
    expect(
      line({
        collectionPause: pause,
        ...facts,
      }),
    ).toMatchObject({
      text,
      hint,
    });
  });

  it('of a subscription whose pause is over names its next payment', () => {
    const facts = {
      subscriptionTier: 'free',
      renewalDate,
      collectionPause: over,
    };
    expect(line(facts).text).toBe(
      'Free plan - your subscription is charged again on January 5, 2025',
    );
  });

  it.each(['past_due', 'unpaid'])(
    'asks for another payment method when %s',
    (subscriptionStatus) => {
      expect(
        line({
          subscriptionStatus,
          subscriptionTier: 'free',
        }),
      ).toMatchObject({
        text: 'Payment Past Due',
        hint: 'Please update your payment method to reactivate.',
      });
    },
  );
});

describe('the management button', () => {
  const cancelAtDate = '2025-01-05T00:00:00Z';
  const paid = {
    subscriptionTier: 'premium',
    subscriptionStatus: 'active',
    scheduledTierId: null,
  };
  const upgrade = ['Upgrade Your Plan', 'Access our plans and upgrade to unlock more features'];
  const cancellation = ['Manage Cancellation', 'Reactivate your subscription or change your plan'];
  const scheduled = ['Manage Scheduled Plan', 'Modify or cancel your scheduled plan'];
  const change = [
    'Manage Subscription',
    'Update payment method, change plan, or cancel subscription',
  ];
  const pay = ['Manage Subscription', 'View billing history and manage payment methods'];

  it.each([
    [{ subscriptionTier: 'free', cancelAtDate }, upgrade],
    [
      {
        cancelAtDate,
        isTrial: true,
        scheduledTierId: 'basic',
      },
      cancellation,
    ],
    [{ cancelAtDate, subscriptionStatus: 'cancellation_scheduled' }, cancellation],
    [{ isTrial: true, scheduledTierId: 'basic' }, scheduled],
    [{ subscriptionStatus: 'active' }, change],
    [{ subscriptionStatus: 'trialing' }, change],
    [{ subscriptionStatus: 'downgrade_scheduled' }, change],
    [{ subscriptionStatus: 'past_due' }, pay],
    [{ subscriptionStatus: 'unpaid' }, pay],
    [{ subscriptionStatus: null }, pay],
  ])('of %j is %j', (facts, [label, hint]) => {
    expect(
      managementButton({
        ...paid,
        cancelAtDate: null,
        isTrial: false,
        ...facts,
      }),
    ).toEqual({
      label,
      hint,
    });
  });
});

describe('the usage of a week', () => {
  const label = 'Messages used this week:';
  const free = {
    label,
    used: 2,
    limit: 5,
    percent: 40,
    note: 'Upgrade for more messages.',
  };
  const noLimit = {
    limit: null,
    note: 'Usage tracking not applicable for this plan.',
  };
  const unnumbered = {
    limit: 160,
    percent: 10,
    note: '160 messages per week on this plan.',
  };

  it.each<[what: string, plan: Plan, used: number, view: object]>([
    ['the free plan', plans.free, 2, free],
    ['an inactive one', planOf('inactive'), 2, free],
    ['none', planOf(null), 2, free],
    ['Basic', plans.basic, 10, { limit: 30, note: null }],
    ['Premium', plans.premium, 10, { limit: 70, note: null }],
    ['Platinum', plans.platinum, 10, { limit: 160, note: null }],
    [
      'a plan by the month',
      { ...plans.basic, periodDescription: 'month' },
      1,
      { label: 'Messages used this month:' },
    ],
    ['Platinum without a number', { ...plans.platinum, messageLimit: null }, 16, unnumbered],
    ['a plan without a number', { ...plans.basic, messageLimit: null }, 3, noLimit],
    ['a plan without a limit', { ...plans.basic, messageLimit: -1 }, 3, noLimit],
  ])('is shown for %s', (_, plan, used, view) => {
    expect(usageView(plan, used)).toMatchObject(view);
  });

  it.each([
    [1, 3, 33],
    [2, 3, 67],
    [0, 5, 0],
    [9, 5, 100],
    [0, 0, 100],
  ])('of %i of %i messages is %i %', (used, limit, percent) => {
    expect(usageView({ ...plans.basic, messageLimit: limit }, used).percent).toBe(percent);
  });
});

describe('a profile', () => {
  it('fills in what a profile leaves out', () => {
    const dates = {
      renewalDate: null,
      cancelAtDate: null,
      resetsAt: null,
      scheduledDowngradeTierId: null,
      collectionPause: null,
    };
    const metadata = {
      ...dates,
      subscriptionTier: 'free',
      subscriptionStatus: null,
    };
    expect(readUser({})).toEqual({
      messagesUsedThisPeriod: 0,
      phoneNumber: null,
      status: null,
      isTrial: false,
      metadata,
    });
  });

  it('takes the count from the metadata when the profile has none', () => {
    const metadata = { messagesUsedThisPeriod: 3 };
    expect(readUser({ metadata }).messagesUsedThisPeriod).toBe(3);
    expect(
      readUser({
        messagesUsedThisPeriod: 4,
        metadata,
      }).messagesUsedThisPeriod,
    ).toBe(4);
  });
});

describe('what the cancel page says', () => {
  const endsAt = '2026-12-01T09:00:00.000Z';
  const laterAt = '2026-12-03T09:00:00.000Z';
  const date = 'December 1, 2026';
  const end = 'December 3, 2026';
  const [plan, next] = ['Premium', 'Basic'];
  const base = {
    tier: 'basic',
    status: 'active',
    startDate: null,
    renewalDate: laterAt,
    cancelAtDate: null,
  } as const;

  type Facts = {
    status: string;
    tier?: string;
    cancelAtDate?: string;
    pause?: CollectionPause;
    scheduled?: string;
    /** The subscription that a trial hides. */
    subscription?: TrialSubscription | Partial<Subscription>;
  };

  function view(facts: Facts) {
    const { status, tier = 'premium', cancelAtDate, scheduled, subscription = 'loading' } = facts;
    const plans = {
      subscriptionTier: tier,
      scheduledDowngradeTierId: scheduled,
    };
    const dates = { renewalDate: endsAt, cancelAtDate };
    const metadata = {
      ...plans,
      ...dates,
      subscriptionStatus: status,
      collectionPause: facts.pause,
    };
    const user = readUser({
      isTrial: status === 'trialing',
      metadata,
    } as never);
    return cancelView(
      user,
      subscription && typeof subscription === 'object'
        ? { ...base, ...subscription }
        : subscription,
      'UTC',
    );
  }

  const trialWith = (subscription: TrialSubscription | Partial<Subscription>) => ({
    status: 'trialing',
    subscription,
  });
  const free = { tier: 'free' } as const;
  const pause = { status: 'paused', resumesAtDate: laterAt } as const;
  const over = { status: 'over', resumesAtDate: null } as const;
  const cancelled = { cancelAtDate: endsAt };

  it.each<[action: string | null, facts: Facts, text: string | null]>([
    ['cancel', { status: 'active' }, words.paid({ plan, date })],
    [
      'cancel',
      { status: 'downgrade_scheduled', scheduled: 'basic' },
      words.downgrade({ plan, date, next }),
    ],
    ['cancel', { status: 'past_due' }, words.pastDue(date)],
    ['cancel', { status: 'past_due', ...free }, words.unpaid],
    ['cancel', { status: 'unpaid', ...free }, words.unpaid],
    [
      'cancel',
      trialWith({ startDate: endsAt }),
      words.trialWithPlan({
        date,
        next,
      }),
    ],
    [
      'cancel',
      trialWith({ tier: 'premium', startDate: endsAt }),
      words.trialWithPlan({ date, next: plan }),
    ],
    [
      'cancel',
      trialWith({}),
      words.trialBesidePlan({
        date,
        plan: next,
        end,
      }),
    ],
    [
      'cancel',
      trialWith({ status: 'past_due' }),
      words.trialBesideDebt({
        date,
        plan: next,
      }),
    ],
    ['cancel', trialWith('unknown'), words.trialUnknown(date)],
    [null, trialWith('loading'), null],
    [null, trialWith(null), words.trialAlone(date)],
    [null, { status: 'active', ...free }, words.nothing],
    [
      'resume',
      { status: 'cancellation_scheduled', ...cancelled },
      words.cancelled({
        plan,
        date,
      }),
    ],
    [
      'resume',
      { status: 'past_due', ...cancelled },
      words.cancelled({
        plan,
        date,
      }),
    ],
    [
      'resume',
      {
        status: 'unpaid',
        ...free,
        ...cancelled,
      },
      words.cancelledUnpaid(date),
    ],
    ['cancel', { status: 'active', pause }, words.paused({ plan, date })],
    [
      'cancel',
      { status: 'past_due', pause },
      words.paused({
        plan,
        date,
      }),
    ],
    [
      'cancel',
      {
        status: 'active',
        ...free,
        pause,
      },
      words.pausedFree,
    ],
    [
      'cancel',
      {
        status: 'past_due',
        ...free,
        pause,
      },
      words.pausedFree,
    ],
    [
      'cancel',
      {
        status: 'active',
        ...free,
        pause: over,
      },
      words.freeUntil(date),
    ],
    ['cancel', trialWith({ collectionPause: pause }), words.trialBesidePause(date)],
    [
      'cancel',
      trialWith({
        ...free,
        collectionPause: over,
      }),
      words.trialUnknown(date),
    ],
    [
      'resume',
      trialWith({
        startDate: endsAt,
        ...cancelled,
      }),
      words.cancelledTrial(date),
    ],
    [
      'resume',
      trialWith({ cancelAtDate: laterAt }),
      words.cancelledBeside({ date, plan: next, end }),
    ],
  ])('offers to %s with %j', (action, facts, text) => {
    const title = facts.status === 'trialing' ? words.trial : words.plan;
    expect(view(facts)).toEqual({
      plan: title(facts.tier === 'free' ? 'Free' : plan),
      text,
      action,
    });
  });
});
