import { planOf } from '#contract/plans';
import { usageWords } from '../words/account.ts';
import { formatPhone } from './format-phone.ts';
import type { User } from './read-user.ts';
import { statusLine, type StatusLine } from './status-line.ts';
import { usageView } from './usage-view.ts';

export type AccountSummary = {
  texts: Record<'phone' | 'plan' | 'description' | 'status' | 'hint' | 'usageLabel' | 'usage', string>;
  tone: StatusLine['tone'];
};

/** The first texts of the account page. */
export function accountSummary(user: User): AccountSummary {
  const { metadata } = user;
  const plan = planOf(metadata.subscriptionTier);
  const { label, used, limit } = usageView(plan, user.messagesUsedThisPeriod);
  const line = statusLine({ ...metadata, scheduledTierId: metadata.scheduledDowngradeTierId });
  const texts = {
    phone: formatPhone(user.phoneNumber),
    plan: plan.name,
    description: plan.description,
    status: line.text,
    hint: line.hint ?? '',
    usageLabel: limit === null ? '' : label,
    usage: limit === null ? '' : usageWords.of(used, limit),
  };
  return { texts, tone: line.tone };
}
