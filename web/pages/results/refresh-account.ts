import { sessionReady } from '../../data/session.ts';

/** Syncs the plan and fetches the profile of a signed-in user. Returns whether the profile is up to date. */
export async function refreshAccount(sessionId: string | undefined): Promise<boolean> {
  const { user } = await sessionReady();
  if (!user) return true;
  const [{ request }, { fetchProfile }] = await Promise.all([import('../../data/api.ts'), import('../../data/me.ts')]);
  // Stripe's webhook may arrive after the user; this call syncs the subscription now.
  if (sessionId) await request('verifyCheckoutSession', { sessionId }).catch(() => null);
  const { success } = await fetchProfile();
  return success;
}
