import type { User } from '#db/schema';
import { plans } from '../contract/plans.ts';
import type { Profile, Usage } from '../contract/schemas.ts';
import { entitledTier, onTrial, weeklyLimit } from './entitlement.ts';
import { currentWeek, weekMs } from './week.ts';

export type { User } from '#db/schema';

/** The count of the current week, and its end (unix ms); null while the week is frozen. */
export function currentCount(user: User, now: number): { used: number; resetsAt: number | null } {
  const week = currentWeek(user, now);
  return { used: week === user.weekStart ? user.used : 0, resetsAt: user.weekFrozen ? null : week + weekMs };
}

/** The profile of a user, as `GET /api/user/me` returns it. */
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
      ...(trial ? duringTrial(user) : ofSubscription(user)),
    },
  };
}

function ofSubscription(user: User) {
  return {
    subscriptionStatus: user.subscriptionStatus,
    renewalDate: isoDate(user.renewalAt),
    cancelAtDate: isoDate(user.cancelAt),
    scheduledDowngradeTierId: user.scheduledTier,
  };
}

/** The plan after the trial is shown as scheduled, unless it was cancelled before its start. */
function duringTrial(user: User) {
  const cancelled = user.tierWaits && user.cancelAt !== null;
  const follows = user.tierWaits && !cancelled && user.tier !== user.trialTier;
  return {
    subscriptionStatus: cancelled ? ('cancellation_scheduled' as const) : ('trialing' as const),
    renewalDate: isoDate(user.trialEndsAt),
    cancelAtDate: cancelled ? isoDate(user.cancelAt) : null,
    scheduledDowngradeTierId: follows ? user.tier : null,
  };
}

/** The response to the bot about a number's allowance. */
export function usageResponse(facts: { allowed: boolean; used: number; tier: Usage['tier']; resetsAt: number }): Usage {
  const limit = weeklyLimit(facts.tier);
  return {
    success: true,
    allowed: facts.allowed,
    used: facts.used,
    limit,
    remaining: limit < 0 ? -1 : Math.max(0, limit - facts.used),
    voice: plans[facts.tier].hasVoice === true,
    tier: facts.tier,
    resetsAt: new Date(facts.resetsAt).toISOString(),
  };
}

function isoDate(instant: number | null): string | null {
  return instant === null ? null : new Date(instant).toISOString();
}
