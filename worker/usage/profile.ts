import type { users } from '#db/schema';
import { plans } from '../contract/plans.ts';
import type { Profile, Usage } from '../contract/shapes.ts';
import { entitledTier, onTrial } from './entitlement.ts';
import { currentWeek, weekMs } from './week.ts';

export type User = typeof users.$inferSelect;

/** The count of the week that runs now, and when (unix ms) it ends; null while the week is frozen. */
export function currentCount(user: User, now: number): { used: number; resetsAt: number | null } {
  const week = currentWeek(user, now);
  return { used: week === user.weekStart ? user.used : 0, resetsAt: user.weekFrozen ? null : week + weekMs };
}

/** What `GET /api/user/me` tells of a user. */
export function profileOf(user: User, now: number): Profile {
  const trial = onTrial(user, now);
  const { used } = currentCount(user, now);
  return {
    phoneNumber: user.phone,
    status: user.status,
    isTrial: trial || user.subscriptionStatus === 'trialing',
    messagesUsedThisPeriod: used,
    metadata: {
      subscriptionTier: entitledTier(user, now),
      messagesUsedThisPeriod: used,
      subscriptionStatus: trial ? 'trialing' : user.subscriptionStatus,
      renewalDate: isoDate(trial ? user.trialEndsAt : user.renewalAt),
      cancelAtDate: trial ? null : isoDate(user.cancelAt),
      scheduledDowngradeTierId: user.scheduledTier,
    },
  };
}

/** What the bot is told about a number's allowance. */
export function usageAnswer(facts: { allowed: boolean; used: number; tier: Usage['tier']; resetsAt: number }): Usage {
  const { messageLimit, hasVoice } = plans[facts.tier];
  const limit = messageLimit ?? 0;
  return {
    success: true,
    allowed: facts.allowed,
    used: facts.used,
    limit,
    remaining: Math.max(0, limit - facts.used),
    voice: hasVoice === true,
    tier: facts.tier,
    resetsAt: new Date(facts.resetsAt).toISOString(),
  };
}

function isoDate(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
