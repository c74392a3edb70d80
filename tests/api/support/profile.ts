import { botCall, call } from './api.ts';

/** The profile, after the fetch from Stripe that reading it may start: that one holds the customer's lease. */
export const profileOf = async (token: string) =>
  (await call('GET', '/api/user/me', { token, settings: {} })).body.profile;

export const metadataOf = async (token: string) => (await profileOf(token)).metadata;

/** The plan and its status, as the user sees them. */
export async function planOf(token: string): Promise<[tier: string, status: string]> {
  const { subscriptionTier, subscriptionStatus } = await metadataOf(token);
  return [subscriptionTier, subscriptionStatus];
}

/** Counts messages. */
export const post = (phone: string, count = 1) => botCall('/api/bot/usage', { phone, count });

export const usageOf = async (phone: string) => (await botCall('/api/bot/entitlements', { phone })).body;
