import { planOf } from '#contract/plans';
import { words } from '../words.ts';
import { formatDate } from './format-date.ts';

export type StatusFacts = {
  subscriptionStatus: string | null;
  subscriptionTier: string;
  renewalDate: string | null;
  cancelAtDate: string | null;
  scheduledTierId: string | null;
};
export type StatusLine = { text: string; hint?: string; tone: 'calm' | 'warm' | 'danger' };

const { status } = words;

/** What the Current Plan card says about the subscription: the first row that fits. */
export function statusLine(facts: StatusFacts, timeZone?: string): StatusLine {
  const { subscriptionStatus, scheduledTierId } = facts;
  const changeDate = facts.cancelAtDate ?? facts.renewalDate;
  const date = (iso: string) => formatDate(iso, timeZone);
  if (subscriptionStatus === 'trialing') return trialLine(facts, date);
  if (subscriptionStatus === 'downgrade_scheduled' && scheduledTierId)
    return changeLine(status.downgrade(planOf(scheduledTierId).name), changeDate, date);
  if (subscriptionStatus === 'cancellation_scheduled') return changeLine(status.cancellation, changeDate, date);
  if (subscriptionStatus === 'past_due' || subscriptionStatus === 'unpaid')
    return { text: status.pastDue, hint: status.pastDueHint, tone: 'danger' };
  if (planOf(facts.subscriptionTier).id === 'free') return { text: status.free, tone: 'calm' };
  if (subscriptionStatus !== 'active') return { text: status.pleaseRefresh, tone: 'warm' };
  if (!facts.renewalDate) return { text: status.subscriptionError, tone: 'danger' };
  return { text: status.renews(date(facts.renewalDate)), tone: 'calm' };
}

function trialLine({ renewalDate, scheduledTierId }: StatusFacts, date: (iso: string) => string): StatusLine {
  const next = scheduledTierId ? planOf(scheduledTierId).name : null;
  if (renewalDate) {
    const ends = status.trialEnds(date(renewalDate));
    return { text: next ? ends + status.trialSwitches(next) : ends, tone: 'calm' };
  }
  const text = next ? `${status.trialWillSwitch(next)} ${status.missingDate}` : status.trialError;
  return { text, tone: 'danger' };
}

function changeLine(change: string, iso: string | null, date: (iso: string) => string): StatusLine {
  return iso
    ? { text: change + status.on(date(iso)), tone: 'warm' }
    : { text: `${change} ${status.missingDate}`, tone: 'danger' };
}
