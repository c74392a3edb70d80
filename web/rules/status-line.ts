import { planOf } from '#contract/plans';
import { statusWords } from '../words/account.ts';
import { formatDate } from './format-date.ts';

export type StatusFacts = {
  subscriptionStatus: string | null;
  subscriptionTier: string;
  renewalDate: string | null;
  cancelAtDate: string | null;
  scheduledTierId: string | null;
};
export type StatusLine = { text: string; hint?: string; tone: 'calm' | 'warm' | 'danger' };

/** The status line of the Current Plan card: the first rule that applies. */
export function statusLine(facts: StatusFacts, timeZone?: string): StatusLine {
  const { subscriptionStatus, scheduledTierId } = facts;
  const format = (iso: string | null) => (iso ? formatDate(iso, timeZone) : null);
  const changeDate = format(facts.cancelAtDate ?? facts.renewalDate);
  const renewalDate = format(facts.renewalDate);
  if (subscriptionStatus === 'trialing') return trialLine(renewalDate, scheduledTierId);
  if (subscriptionStatus === 'downgrade_scheduled' && scheduledTierId)
    return downgradeLine(planOf(scheduledTierId).name, changeDate);
  if (subscriptionStatus === 'cancellation_scheduled') return cancellationLine(changeDate);
  if (subscriptionStatus === 'past_due' || subscriptionStatus === 'unpaid')
    return { text: statusWords.pastDue, hint: statusWords.pastDueHint, tone: 'danger' };
  if (planOf(facts.subscriptionTier).id === 'free') return { text: statusWords.free, tone: 'calm' };
  if (subscriptionStatus !== 'active') return { text: statusWords.pleaseRefresh, tone: 'warm' };
  if (renewalDate === null) return { text: statusWords.subscriptionError, tone: 'danger' };
  return { text: statusWords.renews(renewalDate), tone: 'calm' };
}

function trialLine(date: string | null, scheduledTierId: string | null): StatusLine {
  const plan = scheduledTierId ? planOf(scheduledTierId).name : null;
  if (date === null)
    return {
      text: plan ? statusWords.trialSwitchesWithoutDate(plan) : statusWords.trialWithoutDate,
      tone: 'danger',
    };
  return { text: plan ? statusWords.trialEndsAndSwitches(date, plan) : statusWords.trialEnds(date), tone: 'calm' };
}

function downgradeLine(plan: string, date: string | null): StatusLine {
  if (date === null) return { text: statusWords.downgradeWithoutDate(plan), tone: 'danger' };
  return { text: statusWords.downgrade(plan, date), tone: 'warm' };
}

function cancellationLine(date: string | null): StatusLine {
  if (date === null) return { text: statusWords.cancellationWithoutDate, tone: 'danger' };
  return { text: statusWords.cancellation(date), tone: 'warm' };
}
