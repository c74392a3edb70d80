import { sessionWords } from '#words/login';
import { request, revoke } from './api-client.ts';
import { redirectTo } from './redirects.ts';
import { session } from './session.ts';
import { showToast } from './toasts.ts';

type Target = '/' | '/login';

/** Signs out here at once, and at the server when the call arrives. */
export async function signOut(to: Target = '/login'): Promise<void> {
  const { token } = session.get();
  if (token) revoke(token);
  await endAndRedirect(token, to);
}

/** Ends all sessions. Throws if the server does not confirm it, and stays signed in. */
export async function signOutEverywhere(): Promise<void> {
  const { token } = session.get();
  await request('logout', { everywhere: true });
  await endAndRedirect(token, '/login');
}

async function endAndRedirect(token: string | null, to: Target): Promise<void> {
  if (token) session.endByPerson(token);
  showToast({ type: 'success', title: sessionWords.loggedOut });
  await redirectTo(to);
}
