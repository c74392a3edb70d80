import { sessionReady } from '../session.ts';

/** Fetches the profile again if somebody is logged in; the reason when it did not work, else null. */
export async function refreshUser(): Promise<string | null> {
  const { user } = await sessionReady();
  if (!user) return null;
  const { fetchProfile } = await import('../profile.ts');
  const outcome = await fetchProfile();
  return outcome.success ? null : outcome.message;
}
