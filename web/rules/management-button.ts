import { planOf } from '#contract/plans';
import { words } from '../words.ts';

type Facts = {
  subscriptionTier: string;
  subscriptionStatus: string | null;
  cancelAtDate: string | null;
  isTrial: boolean;
  scheduledTierId: string | null;
};

const running = ['active', 'trialing', 'cancellation_scheduled', 'downgrade_scheduled'];
const { management } = words;

/** Label and hint of the subscription button: the first row that fits. */
export function managementButton(facts: Facts): { label: string; hint: string } {
  if (planOf(facts.subscriptionTier).id === 'free') return { label: management.upgrade, hint: management.upgradeHint };
  if (facts.cancelAtDate) return { label: management.cancellation, hint: management.cancellationHint };
  if (facts.isTrial && facts.scheduledTierId) return { label: management.scheduled, hint: management.scheduledHint };
  const isRunning = running.includes(facts.subscriptionStatus ?? '');
  return { label: management.subscription, hint: isRunning ? management.subscriptionHint : management.inactiveHint };
}
