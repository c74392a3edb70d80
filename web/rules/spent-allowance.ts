import { planOf } from '#contract/plans';
import type { User } from './user-profile.ts';

/** A plan without a limit is never spent. */
export function isAllowanceSpent({ metadata, messagesUsedThisPeriod: used }: User): boolean {
  const { messageLimit } = planOf(metadata.subscriptionTier);
  return messageLimit !== null && messageLimit >= 0 && used >= messageLimit;
}
