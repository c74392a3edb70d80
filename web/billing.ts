import type { PaidPlanId } from '#contract/plans';
import { request } from './api.ts';
import { ApiError } from './api-error.ts';
import { managementWords } from './words/account.ts';

type Portal = { success?: boolean; portalUrl?: string; message?: string };

/** The address of the page on which the subscription is bought, changed or mended. */
export async function createSubscriptionPage(tier?: PaidPlanId): Promise<string> {
  const answer = tier
    ? request('createSubscriptionUpdateSession', { tier })
    : request('createSubscriptionUpdateSession');
  return addressOf(await answer, managementWords.noPortal);
}

/** The address of the billing portal. */
export async function createBillingPage(): Promise<string> {
  return addressOf(await request('createPortalSession'));
}

function addressOf({ success, portalUrl, message }: Portal, otherwise: string | null = null): string {
  if (success && portalUrl) return portalUrl;
  throw new ApiError(managementWords.noPortal, { notice: message ?? otherwise });
}
