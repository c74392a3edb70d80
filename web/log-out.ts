import { request } from './api.ts';
import { departures } from './departures.ts';
import { notify } from './notices.ts';
import { session } from './session.ts';
import { sessionWords } from './words/session.ts';

/** Ends the session here at once, and on the server as soon as it hears of it. */
export async function logOut(to: '/' | '/login' = '/login'): Promise<void> {
  const revoked = request('logout', { everywhere: false });
  session.clear();
  notify({ type: 'success', title: sessionWords.loggedOut });
  await departures.to(to);
  // A token that could not be revoked ends by itself; nothing is left to do about it here.
  await revoked.catch(() => undefined);
}
