import { sessionReady } from '../../data/session.ts';

/** Brings plan and profile up to date for a signed-in person. Returns whether the profile is up to date. */
export async function refreshAccount(sessionId: string | undefined): Promise<boolean> {
  const { user } = await sessionReady();
  if (!user) return true;
  const [{ request }, { fetchProfile }] = await Promise.all([import('../../data/api.ts'), import('../../data/me.ts')]);
  // Stripe's webhook may arrive later than the person; this call syncs the subscription now.
  if (sessionId) await request('verifyCheckoutSession', { sessionId }).catch(() => null);
  const { success } = await fetchProfile();
  return success;
}
