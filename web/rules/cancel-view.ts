import { planOf } from '#contract/plans';
import { cancelWords } from '#words/cancel';
import { planName } from './plan-texts.ts';
import { formatDate } from './formats.ts';
import type { User } from './user-profile.ts';

/** What the page says about a subscription before the click, and which button it offers. */
export type CancelView = { plan: string; text: string; action: 'cancel' | 'resume' | null };

/**
 * The first rule that applies. `hiddenUntil` is the date of a cancellation that the profile does not show, since a trial
 * covers the plan that was cancelled.
 */
export function cancelView(user: User, hiddenUntil: string | null, timeZone?: string): CancelView {
  const { subscriptionTier, cancelAtDate, renewalDate } = user.metadata;
  const name = planName(planOf(subscriptionTier).id);
  const plan = user.isTrial ? cancelWords.trial(name) : cancelWords.plan(name);
  const end = cancelAtDate ?? hiddenUntil;
  if (end !== null) return { plan, text: cancelledText(user, name, formatDate(end, timeZone)), action: 'resume' };
  const text = textBefore(user, name, formatDate(renewalDate, timeZone));
  return { plan, text, action: text === cancelWords.nothing ? null : 'cancel' };
}

const owes = (user: User) => ['past_due', 'unpaid'].includes(user.metadata.subscriptionStatus ?? '');
const isFree = (user: User) => planOf(user.metadata.subscriptionTier).id === 'free';

function cancelledText(user: User, plan: string, date: string): string {
  if (user.isTrial) return cancelWords.cancelledTrial(date);
  return isFree(user) ? cancelWords.cancelledUnpaid(date) : cancelWords.cancelled({ plan, date });
}

function textBefore(user: User, plan: string, date: string): string {
  const { scheduledDowngradeTierId } = user.metadata;
  const next = scheduledDowngradeTierId && planName(planOf(scheduledDowngradeTierId).id);
  if (user.isTrial) return next ? cancelWords.trialWithPlan({ date, next }) : cancelWords.trialAlone(date);
  if (isFree(user)) return owes(user) ? cancelWords.unpaid : cancelWords.nothing;
  if (owes(user)) return cancelWords.pastDue(date);
  return next ? cancelWords.downgrade({ plan, date, next }) : cancelWords.paid({ plan, date });
}
