import { planOf, type PlanId } from '#contract/plans';
import type { User } from './user-profile.ts';

/** `keep`: the plan that is tried, after its trial. */
export type PlanOffer = 'scheduled' | 'keep' | 'current' | 'manage' | 'choose' | 'switch';

export function planOffer(id: PlanId, { isTrial, metadata }: User): PlanOffer {
  const present = planOf(metadata.subscriptionTier).id;
  const { scheduledDowngradeTierId: scheduled } = metadata;

  if (id === scheduled) return 'scheduled';
  if (id === present) return isTrial && id !== 'free' ? 'keep' : 'current';
  if (id === 'free') return 'manage';
  return present === 'free' ? 'choose' : 'switch';
}

export const isOrdered = (offer: PlanOffer): boolean =>
  ['keep', 'choose', 'switch'].includes(offer);
