import { planOf } from '#contract/plans';
import type { Subscription } from '#contract/schemas';
import { cancelWords } from '#words/cancel';
import { planName } from './plan-texts.ts';
import { formatDate } from './formats.ts';
import type { User } from './user-profile.ts';

/** What the page says about a subscription before the click, and which button it offers; no text while it loads. */
export type CancelView = { plan: string; text: string | null; action: 'cancel' | 'resume' | null };

/** A subscription that a trial may hide from the profile; null if there is none. */
export type Hidden = Subscription | null | 'loading' | 'unknown';

export function cancelView(user: User, hidden: Hidden, timeZone?: string): CancelView {
  const { subscriptionTier, cancelAtDate, renewalDate } = user.metadata;
  const name = planName(planOf(subscriptionTier).id);
  if (user.isTrial)
    return { plan: cancelWords.trial(name), ...viewOfTrial(user, hidden, timeZone) };
  const plan = cancelWords.plan(name);
  if (cancelAtDate !== null) {
    const date = formatDate(cancelAtDate, timeZone);
    const text = isFree(user)
      ? cancelWords.cancelledUnpaid(date)
      : cancelWords.cancelled({ plan: name, date });
    return { plan, text, action: 'resume' };
  }
  const text = textBefore(user, name, formatDate(renewalDate, timeZone));
  return { plan, text, action: text === cancelWords.nothing ? null : 'cancel' };
}

/** The trial itself charges nothing: what can be cancelled follows it, or runs beside it. */
function viewOfTrial(user: User, hidden: Hidden, timeZone?: string): Omit<CancelView, 'plan'> {
  if (hidden === 'loading') return { text: null, action: null };
  const date = formatDate(user.metadata.renewalDate, timeZone);
  if (hidden === 'unknown') return { text: cancelWords.trialUnknown(date), action: 'cancel' };
  if (hidden === null) return { text: cancelWords.trialAlone(date), action: null };
  const { startDate, renewalDate, cancelAtDate } = hidden;
  const plan = planName(hidden.tier);
  const end = formatDate(cancelAtDate ?? renewalDate, timeZone);
  if (cancelAtDate !== null) {
    const text = startDate
      ? cancelWords.cancelledTrial(date)
      : cancelWords.cancelledBeside({ date, plan, end });
    return { text, action: 'resume' };
  }
  if (startDate) return { text: cancelWords.trialWithPlan({ date, next: plan }), action: 'cancel' };
  if (hidden.collectionPause?.status === 'paused')
    return { text: cancelWords.trialBesidePause(date), action: 'cancel' };
  if (hidden.tier === 'free' && !owes(hidden.status))
    return { text: cancelWords.trialUnknown(date), action: 'cancel' };
  const text = owes(hidden.status)
    ? cancelWords.trialBesideDebt({ date, plan })
    : cancelWords.trialBesidePlan({ date, plan, end });
  return { text, action: 'cancel' };
}

const owes = (status: string | null) => ['past_due', 'unpaid'].includes(status ?? '');
const isFree = (user: User) => planOf(user.metadata.subscriptionTier).id === 'free';

function textBefore(user: User, plan: string, date: string): string {
  const { scheduledDowngradeTierId, subscriptionStatus, collectionPause } = user.metadata;
  const next = scheduledDowngradeTierId && planName(planOf(scheduledDowngradeTierId).id);
  if (isFree(user)) return textOfFree(user, date);
  if (collectionPause?.status === 'paused') return cancelWords.paused({ plan, date });
  if (owes(subscriptionStatus)) return cancelWords.pastDue(date);
  return next ? cancelWords.downgrade({ plan, date, next }) : cancelWords.paid({ plan, date });
}

/** Somebody on the free plan may still have a subscription that charges later. */
function textOfFree({ metadata }: User, date: string): string {
  const { collectionPause, subscriptionStatus } = metadata;
  if (collectionPause?.status === 'paused') return cancelWords.pausedFree;
  if (owes(subscriptionStatus)) return cancelWords.unpaid;
  return collectionPause ? cancelWords.freeUntil(date) : cancelWords.nothing;
}
