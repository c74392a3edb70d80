import { planOf } from '#contract/plans';
import type { Subscription } from '#contract/schemas';
import { cancelWords } from '#words/cancel';
import { planName } from './plan-texts.ts';
import { formatDate } from './formats.ts';
import type { User } from './user-profile.ts';

/** `text` is null while the subscription loads. */
export type CancelView = { plan: string; text: string | null; action: 'cancel' | 'resume' | null };

/** The subscription beside a trial; null if there is none. */
export type TrialSubscription = Subscription | null | 'loading' | 'unknown';

type Shown = Omit<CancelView, 'plan'>;

export function cancelView(
  user: User,
  subscription: TrialSubscription,
  timeZone?: string,
): CancelView {
  const { subscriptionTier, cancelAtDate, renewalDate } = user.metadata;
  const plan = planName(planOf(subscriptionTier).id);
  const dateOf = (iso: string | null) => formatDate(iso, timeZone);

  if (user.isTrial) {
    const trial = { date: dateOf(renewalDate), dateOf };
    return { plan: cancelWords.trial(plan), ...viewOfTrial(subscription, trial) };
  }

  const shown =
    cancelAtDate !== null
      ? viewOfCancelled(user, plan, dateOf(cancelAtDate))
      : viewBefore(user, plan, dateOf(renewalDate));
  return { plan: cancelWords.plan(plan), ...shown };
}

const cancel = (text: string): Shown => ({ text, action: 'cancel' });
const resume = (text: string): Shown => ({ text, action: 'resume' });
const nothing = (text: string | null): Shown => ({ text, action: null });

function viewOfCancelled(user: User, plan: string, date: string): Shown {
  if (isFree(user)) return resume(cancelWords.cancelledUnpaid(date));
  return resume(cancelWords.cancelled({ plan, date }));
}

type Trial = { date: string; dateOf: (iso: string | null) => string };

/** The trial charges nothing: what follows, or runs beside it, can be cancelled. */
function viewOfTrial(subscription: TrialSubscription, { date, dateOf }: Trial): Shown {
  if (subscription === 'loading') return nothing(null);
  if (subscription === 'unknown') return cancel(cancelWords.trialUnknown(date));
  if (subscription === null) return nothing(cancelWords.trialAlone(date));

  const { startDate, renewalDate, cancelAtDate, status } = subscription;
  const plan = planName(subscription.tier);
  const end = dateOf(cancelAtDate ?? renewalDate);
  const isPaused = subscription.collectionPause?.status === 'paused';

  if (cancelAtDate !== null && startDate) return resume(cancelWords.cancelledTrial(date));
  if (cancelAtDate !== null) return resume(cancelWords.cancelledBeside({ date, plan, end }));
  if (startDate) return cancel(cancelWords.trialWithPlan({ date, next: plan }));
  if (isPaused) return cancel(cancelWords.trialBesidePause(date));
  if (owes(status)) return cancel(cancelWords.trialBesideDebt({ date, plan }));
  if (subscription.tier === 'free') return cancel(cancelWords.trialUnknown(date));
  return cancel(cancelWords.trialBesidePlan({ date, plan, end }));
}

const owes = (status: string | null) => ['past_due', 'unpaid'].includes(status ?? '');
const isFree = (user: User) => planOf(user.metadata.subscriptionTier).id === 'free';

function viewBefore(user: User, plan: string, date: string): Shown {
  const { metadata } = user;
  const nextTier = metadata.scheduledDowngradeTierId;
  const isPaused = metadata.collectionPause?.status === 'paused';

  if (isFree(user)) return viewOfFree(user, date);
  if (isPaused) return cancel(cancelWords.paused({ plan, date }));
  if (owes(metadata.subscriptionStatus)) return cancel(cancelWords.pastDue(date));
  if (!nextTier) return cancel(cancelWords.paid({ plan, date }));

  const next = planName(planOf(nextTier).id);
  return cancel(cancelWords.downgrade({ plan, date, next }));
}

/** A subscription may still charge later. */
function viewOfFree({ metadata }: User, date: string): Shown {
  const { collectionPause, subscriptionStatus } = metadata;
  if (collectionPause?.status === 'paused') return cancel(cancelWords.pausedFree);
  if (owes(subscriptionStatus)) return cancel(cancelWords.unpaid);
  if (collectionPause) return cancel(cancelWords.freeUntil(date));
  return nothing(cancelWords.nothing);
}
