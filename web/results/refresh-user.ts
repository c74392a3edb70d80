import { sessionReady } from '../session.ts';

/** Brings plan and profile up to date if somebody is logged in; the reason when that did not work, else null. */
export async function refreshUser(sessionId: string | undefined): Promise<string | null> {
  const { user } = await sessionReady();
  if (!user) return null;
  const [{ request }, { fetchProfile }] = await Promise.all([import('../api.ts'), import('../profile.ts')]);
  // The provider's own message about the payment may be late; asking now makes the profile tell of it.
  if (sessionId) await request('verifyCheckoutSession', { sessionId }).catch(() => null);
  const outcome = await fetchProfile();
  return outcome.success ? null : outcome.message;
}
