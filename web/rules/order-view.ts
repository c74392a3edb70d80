import { type Plan, planOf } from '#contract/plans';
import { orderWords } from '#words/order';
import { formatDate } from './formats.ts';
import { planTexts } from './plan-texts.ts';
import type { User } from './user-profile.ts';

export type OrderView = { first: string; action: string; concludes: boolean };

/** `concludes`: a contract of its own, which can be withdrawn. */
export function orderView(plan: Plan, user: User, timeZone?: string): OrderView {
  const { price } = planTexts(plan.id);
  const present = planOf(user.metadata.subscriptionTier);
  const date = formatDate(user.metadata.renewalDate, timeZone);

  if (user.isTrial) {
    const first = orderWords.firstAfterTrial({ price, date });
    return { first, action: orderWords.details, concludes: true };
  }
  if (present.level === 0)
    return { first: orderWords.firstToday(price), action: orderWords.pay, concludes: true };
  if (plan.level > present.level)
    return { first: orderWords.firstUpgrade(price), action: orderWords.pay, concludes: true };

  const first = orderWords.firstDowngrade({ date, price });
  return { first, action: orderWords.change, concludes: false };
}
