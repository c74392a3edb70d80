import { sessionWords } from '#words/session';
import { request, revoke } from './api-client.ts';
import { notify } from './notices.ts';
import { redirectTo, session } from './session.ts';

type Target = '/' | '/login';

/** Ends the session on this page at once, and at the server when the call arrives. */
export async function logOut(to: Target = '/login'): Promise<void> {
  const { token } = session.get();
  if (token) revoke(token);
  await leave(token, to);
}

/** Ends every session of the user. Throws and stays signed in if the server does not confirm it. */
export async function logOutEverywhere(): Promise<void> {
  const { token } = session.get();
  await request('logout', { everywhere: true });
  await leave(token, '/login');
}

async function leave(token: string | null, to: Target): Promise<void> {
  if (token) session.end(token);
  notify({ type: 'success', title: sessionWords.loggedOut });
  await redirectTo(to);
}
