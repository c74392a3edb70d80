import { planOf } from '#contract/plans';
import type { User } from './user-profile.ts';

/** Never in a plan without a limit. */
export function isAllowanceSpent({ metadata, messagesUsedThisPeriod: used }: User): boolean {
  const { messageLimit } = planOf(metadata.subscriptionTier);
  return messageLimit !== null && messageLimit >= 0 && used >= messageLimit;
}
