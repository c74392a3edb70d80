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

/** What the Current Plan card says about the subscription: the first row that fits. */
export function statusLine(facts: StatusFacts, timeZone?: string): StatusLine {
  const { subscriptionStatus, scheduledTierId } = facts;
  const changeDate = facts.cancelAtDate ?? facts.renewalDate;
  const date = (iso: string) => formatDate(iso, timeZone);
  if (subscriptionStatus === 'trialing') return trialLine(facts, date);
  if (subscriptionStatus === 'downgrade_scheduled' && scheduledTierId)
    return changeLine(statusWords.downgrade(planOf(scheduledTierId).name), changeDate, date);
  if (subscriptionStatus === 'cancellation_scheduled') return changeLine(statusWords.cancellation, changeDate, date);
  if (subscriptionStatus === 'past_due' || subscriptionStatus === 'unpaid')
    return { text: statusWords.pastDue, hint: statusWords.pastDueHint, tone: 'danger' };
  if (planOf(facts.subscriptionTier).id === 'free') return { text: statusWords.free, tone: 'calm' };
  if (subscriptionStatus !== 'active') return { text: statusWords.pleaseRefresh, tone: 'warm' };
  if (!facts.renewalDate) return { text: statusWords.subscriptionError, tone: 'danger' };
  return { text: statusWords.renews(date(facts.renewalDate)), tone: 'calm' };
}

function trialLine({ renewalDate, scheduledTierId }: StatusFacts, date: (iso: string) => string): StatusLine {
  const next = scheduledTierId ? planOf(scheduledTierId).name : null;
  if (renewalDate) {
    const ends = statusWords.trialEnds(date(renewalDate));
    return { text: next ? ends + statusWords.trialSwitches(next) : ends, tone: 'calm' };
  }
  const text = next ? `${statusWords.trialWillSwitch(next)} ${statusWords.missingDate}` : statusWords.trialError;
  return { text, tone: 'danger' };
}

function changeLine(change: string, iso: string | null, date: (iso: string) => string): StatusLine {
  return iso
    ? { text: change + statusWords.on(date(iso)), tone: 'warm' }
    : { text: `${change} ${statusWords.missingDate}`, tone: 'danger' };
}
