import { planOf } from '#contract/plans';
import { managementWords } from '../words/account.ts';

type Facts = {
  subscriptionTier: string;
  subscriptionStatus: string | null;
  cancelAtDate: string | null;
  isTrial: boolean;
  scheduledTierId: string | null;
};

const running = ['active', 'trialing', 'cancellation_scheduled', 'downgrade_scheduled'];
/** Label and hint of the subscription button, from the first matching row. */
export function managementButton(facts: Facts): { label: string; hint: string } {
  if (planOf(facts.subscriptionTier).id === 'free')
    return { label: managementWords.upgrade, hint: managementWords.upgradeHint };
  if (facts.cancelAtDate) return { label: managementWords.cancellation, hint: managementWords.cancellationHint };
  if (facts.isTrial && facts.scheduledTierId)
    return { label: managementWords.scheduled, hint: managementWords.scheduledHint };
  const isRunning = running.includes(facts.subscriptionStatus ?? '');
  return {
    label: managementWords.subscription,
    hint: isRunning ? managementWords.subscriptionHint : managementWords.inactiveHint,
  };
}
