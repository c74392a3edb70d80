import type { PaidPlanId } from '#contract/plans';
import { managementWords } from '#words/account';
import { request } from './api-client.ts';
import { ApiError } from './api-error.ts';

type PartialPortal = { success?: boolean; portalUrl?: string; message?: string };

export async function createSubscriptionSession(
  tier?: PaidPlanId,
  startNow = false,
): Promise<string> {
  const response = tier
    ? request('createSubscriptionUpdateSession', { tier, startNow })
    : request('createSubscriptionUpdateSession');
  return portalUrlOf(await response, managementWords.noPortal);
}

export async function createPortalSession(): Promise<string> {
  return portalUrlOf(await request('createPortalSession'));
}

function portalUrlOf(
  { success, portalUrl, message }: PartialPortal,
  fallback: string | null = null,
): string {
  if (success && portalUrl) return portalUrl;
  throw new ApiError(managementWords.noPortal, { toast: message ?? fallback });
}
