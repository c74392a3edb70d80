import { planOf } from '#contract/plans';
import { usageWords } from '../words/account.ts';
import { formatPhone } from './format-phone.ts';
import type { User } from './read-user.ts';
import { statusLine } from './status-line.ts';
import { usageView } from './usage-view.ts';

export type AccountSummary = Record<'phone' | 'plan' | 'description' | 'status' | 'usageLabel' | 'usage', string>;

/** The first texts of the account page. */
export function accountSummary(user: User): AccountSummary {
  const { metadata } = user;
  const plan = planOf(metadata.subscriptionTier);
  const { label, used, limit } = usageView(plan, user.messagesUsedThisPeriod);
  return {
    phone: formatPhone(user.phoneNumber),
    plan: plan.name,
    description: plan.description,
    status: statusLine({ ...metadata, scheduledTierId: metadata.scheduledDowngradeTierId }).text,
    usageLabel: limit === null ? '' : label,
    usage: limit === null ? '' : usageWords.of(used, limit),
  };
}
