import { type Plan, planOf } from '#contract/plans';
import { orderWords } from '#words/order';
import { formatDate } from './formats.ts';
import type { TrialSubscription } from './cancel-view.ts';
import { planName, planTexts } from './plan-texts.ts';
import type { User } from './user-profile.ts';

export type OrderView = { first: string; action: string; concludes: boolean };

/** What prevents another plan. Stripe's page would show nothing else. */
export type OrderObstacle = {
  title: string;
  text: string;
  action: string;
  way: 'payments' | '/cancel';
};

/** Returns the person as if without the trial, if a paid plan runs beside it. */
export function payerOf(user: User, subscription: TrialSubscription): User {
  if (!user.isTrial || !subscription || typeof subscription === 'string') return user;
  const { tier, status, startDate, renewalDate, cancelAtDate } = subscription;
  if (startDate !== null || status === 'trialing') return user;

  const plan = { subscriptionTier: tier, subscriptionStatus: status };
  const dates = { renewalDate, cancelAtDate, scheduledDowngradeTierId: null };
  return { ...user, isTrial: false, metadata: { ...user.metadata, ...plan, ...dates } };
}

/** `concludes`: a contract of its own, which can be withdrawn. */
export function orderView(plan: Plan, user: User, timeZone?: string): OrderView {
  const { price } = planTexts(plan.id);
  const present = planOf(user.metadata.subscriptionTier);
  const date = formatDate(user.metadata.renewalDate, timeZone);

  if (user.isTrial) return afterTrial(user, { price, date });
  if (present.level === 0)
    return { first: orderWords.firstToday(price), action: orderWords.pay, concludes: true };
  if (plan.level > present.level)
    return { first: orderWords.firstUpgrade(price), action: orderWords.pay, concludes: true };

  const first = orderWords.firstDowngrade({ date, price });
  return { first, action: orderWords.change, concludes: false };
}

type Start = { price: string; date: string };

function afterTrial({ metadata }: User, start: Start): OrderView {
  const { scheduledDowngradeTierId: booked } = metadata;
  if (!booked)
    return {
      first: orderWords.firstAfterTrial(start),
      action: orderWords.details,
      concludes: true,
    };
  const plan = planName(planOf(booked).id);
  const first = orderWords.firstInstead({ ...start, plan });
  return { first, action: orderWords.booked, concludes: true };
}

export function orderObstacleOf(
  { isTrial, metadata }: User,
  timeZone?: string,
): OrderObstacle | null {
  const { subscriptionStatus: status, cancelAtDate, scheduledDowngradeTierId } = metadata;
  const { cancelled, owed, scheduled } = orderWords.obstacles;

  if (cancelAtDate !== null) return { ...cancelled, way: '/cancel' };
  if (status === 'past_due' || status === 'unpaid') return { ...owed, way: 'payments' };
  if (isTrial || !scheduledDowngradeTierId) return null;

  const plan = planName(planOf(scheduledDowngradeTierId).id);
  const text = scheduled.text({ plan, date: formatDate(metadata.renewalDate, timeZone) });
  return { ...scheduled, text, way: 'payments' };
}
