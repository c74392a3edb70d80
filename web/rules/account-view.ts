import { planOf, plans, type Plan } from '#contract/plans';
import { usageWords, statusWords, managementWords } from '#words/account';
import { planName } from './plan-texts.ts';
import { formatDate } from './formats.ts';
import type { CollectionPause } from '#contract/schemas';

export type StatusInput = {
  subscriptionStatus: string | null;
  subscriptionTier: string;
  renewalDate: string | null;
  cancelAtDate: string | null;
  scheduledTierId: string | null;
  collectionPause: CollectionPause | null;
};
export type StatusLine = { text: string; hint?: string; tone: 'calm' | 'warm' | 'danger' };

type Tone = StatusLine['tone'];
const line = (tone: Tone, text: string): StatusLine => ({ text, tone });

/** Shows a pause beside a scheduled change, and instead of any other status. */
export function statusLine(facts: StatusInput, timeZone?: string): StatusLine {
  const dateOf = (iso: string | null) => formatDate(iso, timeZone);
  const { collectionPause: pause, subscriptionStatus: status } = facts;
  const usual = lineWithoutPause(facts, dateOf);
  if (pause === null) return usual;
  if (pause.status === 'over') return status === 'active' ? nextPayment(facts, dateOf) : usual;

  const text = pauseText(pause, dateOf);
  if (scheduling.includes(status ?? '')) return { ...usual, hint: text };
  const isFree = planOf(facts.subscriptionTier).id === 'free';
  if (isFree || facts.renewalDate === null)
    return { text, hint: statusWords.pausedFree, tone: 'warm' };
  return { text, hint: statusWords.pausedPlan(dateOf(facts.renewalDate)), tone: 'warm' };
}

const scheduling = ['trialing', 'cancellation_scheduled', 'downgrade_scheduled'];

type DateOf = (iso: string | null) => string;

/** Nothing is paid for until the first payment after a pause. */
const nextPayment = ({ renewalDate }: StatusInput, dateOf: DateOf): StatusLine =>
  line('calm', statusWords.freeUntil(dateOf(renewalDate)));

function pauseText({ resumesAtDate }: CollectionPause, dateOf: DateOf): string {
  if (resumesAtDate === null) return statusWords.paused;
  return statusWords.pausedUntil(dateOf(resumesAtDate));
}

/** Returns the line of the first rule that applies. */
function lineWithoutPause(facts: StatusInput, dateOf: DateOf): StatusLine {
  const { subscriptionStatus: status, scheduledTierId } = facts;
  const format = (iso: string | null) => (iso ? dateOf(iso) : null);
  const changeDate = format(facts.cancelAtDate ?? facts.renewalDate);
  const renewalDate = format(facts.renewalDate);
  const next = scheduledTierId ? planName(planOf(scheduledTierId).id) : null;

  if (status === 'trialing') return trialLine(renewalDate, next);
  if (status === 'downgrade_scheduled' && next) return downgradeLine(changeDate, next);
  if (status === 'cancellation_scheduled') return cancellationLine(changeDate);
  if (status === 'past_due' || status === 'unpaid')
    return { ...line('danger', statusWords.pastDue), hint: statusWords.pastDueHint };
  if (planOf(facts.subscriptionTier).id === 'free') return line('calm', statusWords.free);
  if (status !== 'active') return line('warm', statusWords.pleaseRefresh);
  if (renewalDate === null) return line('danger', statusWords.subscriptionError);
  return line('calm', statusWords.renews(renewalDate));
}

function trialLine(date: string | null, plan: string | null): StatusLine {
  if (date && plan) return line('calm', statusWords.trialEndsAndSwitches({ date, plan }));
  if (date) return line('calm', statusWords.trialEnds(date));
  if (plan) return line('danger', statusWords.trialSwitchesWithoutDate(plan));
  return line('danger', statusWords.trialWithoutDate);
}

function downgradeLine(date: string | null, plan: string): StatusLine {
  if (!date) return line('danger', statusWords.downgradeWithoutDate(plan));
  return line('warm', statusWords.downgrade({ plan, date }));
}

function cancellationLine(date: string | null): StatusLine {
  if (!date) return line('danger', statusWords.cancellationWithoutDate);
  return line('warm', statusWords.cancellation(date));
}

/** Shown as the limit of Platinum, whose plan has no number. */
const platinumAllowance = 160;

/** `limit` is null if usage is not tracked. */
export type UsageView = {
  label: string;
  used: number;
  limit: number | null;
  percent: number;
  note: string | null;
};

export function usageView(plan: Plan, used: number): UsageView {
  const { id, messageLimit } = plan;
  const label = usageWords.used[plan.periodDescription];
  const limit = messageLimit !== null && messageLimit >= 0 ? messageLimit : null;
  const view = (shown: number | null, note: string | null): UsageView => ({
    label,
    used,
    limit: shown,
    note,
    percent: shown === null ? 0 : usagePercent(used, shown),
  });

  if (id === 'free') return view(limit ?? plans.free.messageLimit, usageWords.upgrade);
  if (limit !== null) return view(limit, null);
  if (id === 'platinum') return view(platinumAllowance, usageWords.platinum(platinumAllowance));
  return view(null, usageWords.notApplicable);
}

function usagePercent(used: number, limit: number): number {
  if (limit <= 0) return 100;
  return Math.min(100, Math.max(0, Math.round((used / limit) * 100)));
}

type ManagementInput = {
  subscriptionTier: string;
  subscriptionStatus: string | null;
  cancelAtDate: string | null;
  isTrial: boolean;
  scheduledTierId: string | null;
};

const running = ['active', 'trialing', 'cancellation_scheduled', 'downgrade_scheduled'];
export function managementButton(facts: ManagementInput): { label: string; hint: string } {
  const words = managementWords;
  if (planOf(facts.subscriptionTier).id === 'free')
    return { label: words.upgrade, hint: words.upgradeHint };
  if (facts.cancelAtDate) return { label: words.cancellation, hint: words.cancellationHint };
  if (facts.isTrial && facts.scheduledTierId)
    return { label: words.scheduled, hint: words.scheduledHint };
  const isRunning = running.includes(facts.subscriptionStatus ?? '');
  return {
    label: words.subscription,
    hint: isRunning ? words.subscriptionHint : words.inactiveHint,
  };
}
