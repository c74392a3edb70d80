import { ApiError } from './api-error.ts';
import { departures } from './departures.ts';
import { notify } from './notices.ts';
import { isLocalHost } from './rules/local-host.ts';
import { tokenExpired } from './rules/token-expired.ts';
import { session } from './session.ts';
import { problemsWords } from './words/session.ts';

/** The token for a protected call; refuses, and says so, when there is none or it has ended. */
export function usableToken(): string {
  const token = session.storedToken();
  if (!token) {
    notify({ type: 'error', title: problemsWords.pleaseLogIn });
    throw new ApiError(problemsWords.noToken, { told: true });
  }
  if (!tokenExpired(token, Date.now())) return token;
  session.clear();
  notify({ type: 'error', title: problemsWords.tokenExpired });
  if (!isLocalHost(location.hostname)) void departures.to('/login');
  throw new ApiError(problemsWords.tokenExpired, { told: true });
}
