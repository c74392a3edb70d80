import { planOf, plans, type Plan } from '#contract/plans';
import { usageWords, statusWords, managementWords } from '#words/account';
import { planName, planTexts } from './plan-texts.ts';
import { formatPhone, formatDate } from './formats.ts';
import type { User } from './user-profile.ts';
import type { CollectionPause } from '#contract/schemas';

export type AccountSummary = {
  texts: Record<
    'phone' | 'plan' | 'description' | 'status' | 'hint' | 'usageLabel' | 'usage',
    string
  >;
  tone: StatusLine['tone'];
};

export function accountSummary(user: User): AccountSummary {
  const { metadata } = user;
  const plan = planOf(metadata.subscriptionTier);
  const { name, description } = planTexts(plan.id);
  const { label, used, limit } = usageView(plan, user.messagesUsedThisPeriod);
  const line = statusLine({ ...metadata, scheduledTierId: metadata.scheduledDowngradeTierId });
  const texts = {
    phone: formatPhone(user.phoneNumber),
    plan: name,
    description,
    status: line.text,
    hint: line.hint ?? '',
    usageLabel: limit === null ? '' : label,
    usage: limit === null ? '' : usageWords.of({ used, limit }),
  };
  return { texts, tone: line.tone };
}

export type StatusFacts = {
  subscriptionStatus: string | null;
  subscriptionTier: string;
  renewalDate: string | null;
  cancelAtDate: string | null;
  scheduledTierId: string | null;
  collectionPause: CollectionPause | null;
};
export type StatusLine = { text: string; hint?: string; tone: 'calm' | 'warm' | 'danger' };

/** The status line of the Current Plan card. A pause is shown beside what is scheduled, and in place of the rest. */
export function statusLine(facts: StatusFacts, timeZone?: string): StatusLine {
  const line = lineWithoutPause(facts, timeZone);
  const { collectionPause: pause, subscriptionStatus: status } = facts;
  if (pause === null) return line;
  if (pause.status === 'over')
    return facts.subscriptionStatus === 'active' ? nextPaymentLine(facts, timeZone) : line;
  const text = pauseText(pause, timeZone);
  if (scheduling.includes(status ?? '')) return { ...line, hint: text };
  if (planOf(facts.subscriptionTier).id === 'free' || facts.renewalDate === null)
    return { text, hint: statusWords.pausedFree, tone: 'warm' };
  const hint = statusWords.pausedPlan(formatDate(facts.renewalDate, timeZone));
  return { text, hint, tone: 'warm' };
}

const scheduling = ['trialing', 'cancellation_scheduled', 'downgrade_scheduled'];

/** Until the first payment after a pause, nothing is paid for. */
function nextPaymentLine({ renewalDate }: StatusFacts, timeZone?: string): StatusLine {
  return { text: statusWords.freeUntil(formatDate(renewalDate, timeZone)), tone: 'calm' };
}

/** The sentence about a pause, with its end if it has one. */
function pauseText({ resumesAtDate }: CollectionPause, timeZone?: string): string {
  if (resumesAtDate === null) return statusWords.paused;
  return statusWords.pausedUntil(formatDate(resumesAtDate, timeZone));
}

/** The first rule that applies. */
function lineWithoutPause(facts: StatusFacts, timeZone?: string): StatusLine {
  const { subscriptionStatus, scheduledTierId } = facts;
  const format = (iso: string | null) => (iso ? formatDate(iso, timeZone) : null);
  const changeDate = format(facts.cancelAtDate ?? facts.renewalDate);
  const renewalDate = format(facts.renewalDate);
  if (subscriptionStatus === 'trialing') return trialLine(renewalDate, scheduledTierId);
  if (subscriptionStatus === 'downgrade_scheduled' && scheduledTierId)
    return downgradeLine(planName(planOf(scheduledTierId).id), changeDate);
  if (subscriptionStatus === 'cancellation_scheduled') return cancellationLine(changeDate);
  if (subscriptionStatus === 'past_due' || subscriptionStatus === 'unpaid')
    return { text: statusWords.pastDue, hint: statusWords.pastDueHint, tone: 'danger' };
  if (planOf(facts.subscriptionTier).id === 'free') return { text: statusWords.free, tone: 'calm' };
  if (subscriptionStatus !== 'active') return { text: statusWords.pleaseRefresh, tone: 'warm' };
  if (renewalDate === null) return { text: statusWords.subscriptionError, tone: 'danger' };
  return { text: statusWords.renews(renewalDate), tone: 'calm' };
}

function trialLine(date: string | null, scheduledTierId: string | null): StatusLine {
  const plan = scheduledTierId ? planName(planOf(scheduledTierId).id) : null;
  if (date === null)
    return {
      text: plan ? statusWords.trialSwitchesWithoutDate(plan) : statusWords.trialWithoutDate,
      tone: 'danger',
    };
  return {
    text: plan ? statusWords.trialEndsAndSwitches({ date, plan }) : statusWords.trialEnds(date),
    tone: 'calm',
  };
}

function downgradeLine(plan: string, date: string | null): StatusLine {
  if (date === null) return { text: statusWords.downgradeWithoutDate(plan), tone: 'danger' };
  return { text: statusWords.downgrade({ plan, date }), tone: 'warm' };
}

function cancellationLine(date: string | null): StatusLine {
  if (date === null) return { text: statusWords.cancellationWithoutDate, tone: 'danger' };
  return { text: statusWords.cancellation(date), tone: 'warm' };
}

/** The weekly messages that platinum shows if its plan has no number. */
const platinumAllowance = 160;

/** The content of the Usage card; `limit` is null if usage is not tracked. */
export type UsageView = {
  label: string;
  used: number;
  limit: number | null;
  percent: number;
  note: string | null;
};

/** The usage of a plan. `planOf` makes an inactive or unknown tier the free plan. */
export function usageView(plan: Plan, used: number): UsageView {
  const label = usageWords.used[plan.periodDescription];
  const limit = plan.messageLimit !== null && plan.messageLimit >= 0 ? plan.messageLimit : null;
  if (plan.id === 'free')
    return view(label, used, limit ?? plans.free.messageLimit, usageWords.upgrade);
  if (limit !== null) return view(label, used, limit, null);
  if (plan.id === 'platinum')
    return view(label, used, platinumAllowance, usageWords.platinum(platinumAllowance));
  return view(label, used, null, usageWords.notApplicable);
}

function view(label: string, used: number, limit: number | null, note: string | null): UsageView {
  return { label, used, limit, note, percent: limit === null ? 0 : usagePercent(used, limit) };
}

function usagePercent(used: number, limit: number): number {
  if (limit <= 0) return 100;
  return Math.min(100, Math.max(0, Math.round((used / limit) * 100)));
}

type Facts = {
  subscriptionTier: string;
  subscriptionStatus: string | null;
  cancelAtDate: string | null;
  isTrial: boolean;
  scheduledTierId: string | null;
};

const running = ['active', 'trialing', 'cancellation_scheduled', 'downgrade_scheduled'];
/** Label and hint of the subscription button, from the first matching row. */
export function managementButton(facts: Facts): { label: string; hint: string } {
  if (planOf(facts.subscriptionTier).id === 'free')
    return { label: managementWords.upgrade, hint: managementWords.upgradeHint };
  if (facts.cancelAtDate)
    return { label: managementWords.cancellation, hint: managementWords.cancellationHint };
  if (facts.isTrial && facts.scheduledTierId)
    return { label: managementWords.scheduled, hint: managementWords.scheduledHint };
  const isRunning = running.includes(facts.subscriptionStatus ?? '');
  return {
    label: managementWords.subscription,
    hint: isRunning ? managementWords.subscriptionHint : managementWords.inactiveHint,
  };
}
