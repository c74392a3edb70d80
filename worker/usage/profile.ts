import type { User } from '#db/schema';
import { isoDate } from '../lib/time.ts';
import type { CollectionPause, Profile, Subscription } from '../contract/schemas.ts';
import { entitledTier, onTrial } from './allowance.ts';
import { currentCount, nextWeek } from './week.ts';

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
      resetsAt: new Date(nextWeek(user, now)).toISOString(),
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
    ...pauseOf(user),
  };
}

function pauseOf({ collectionPause: status, resumesAt }: User): {
  collectionPause?: CollectionPause;
} {
  return status
    ? {
        collectionPause: {
          status,
          resumesAtDate: isoDate(resumesAt),
        },
      }
    : {};
}

/** Null if nothing can be charged. */
export function subscriptionOf(user: User): Subscription | null {
  const { tier, subscriptionStatus: status, tierWaits, trialEndsAt, renewalAt } = user;
  if (tier === 'free' && status === 'active' && !user.collectionPause) return null;
  return {
    tier,
    status,
    startDate: isoDate(tierWaits ? (trialEndsAt ?? renewalAt) : null),
    renewalDate: isoDate(renewalAt),
    cancelAtDate: isoDate(user.cancelAt),
    ...pauseOf(user),
  };
}

function duringTrial(user: User) {
  const { tierWaits, tier, scheduledTier } = user;
  const isCancelled = user.cancelAt !== null;
  const cancelled = tierWaits && isCancelled;
  const next = (tierWaits && scheduledTier) || tier;
  return {
    subscriptionStatus: cancelled ? ('cancellation_scheduled' as const) : ('trialing' as const),
    renewalDate: isoDate(user.trialEndsAt),
    cancelAtDate: cancelled ? isoDate(user.cancelAt) : null,
    scheduledDowngradeTierId: isCancelled || next === 'free' ? null : next,
  };
}
