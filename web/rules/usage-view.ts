import { plans, type Plan } from '#contract/plans';
import { usageWords } from '../words/account.ts';

/** The weekly messages that platinum shows if the catalogue has no number. */
const platinumAllowance = 160;

/** The content of the Usage card; `limit` is null if usage is not tracked. */
export type UsageView = { label: string; used: number; limit: number | null; percent: number; note: string | null };

/** The usage of a plan. `planOf` makes an inactive or unknown tier the free plan. */
export function usageView(plan: Plan, used: number): UsageView {
  const label = labelOf(plan.periodDescription);
  const limit = plan.messageLimit !== null && plan.messageLimit >= 0 ? plan.messageLimit : null;
  if (plan.id === 'free') return view(label, used, limit ?? plans.free.messageLimit, usageWords.upgrade);
  if (limit !== null) return view(label, used, limit, null);
  if (plan.id === 'platinum') return view(label, used, platinumAllowance, usageWords.platinum(platinumAllowance));
  return view(label, used, null, usageWords.notApplicable);
}

function labelOf(period: string): string {
  return Object.entries(usageWords.used).find(([name]) => name === period)?.[1] ?? usageWords.used.week;
}

function view(label: string, used: number, limit: number | null, note: string | null): UsageView {
  return { label, used, limit, note, percent: limit === null ? 0 : usagePercent(used, limit) };
}

/** used/limit in percent, rounded, at most 100. */
export function usagePercent(used: number, limit: number): number {
  if (limit <= 0) return 100;
  return Math.min(100, Math.max(0, Math.round((used / limit) * 100)));
}
