import { isLocalHost } from '../rules/addresses.ts';
import { sessionEnded, type ApiError } from './api-error.ts';
import { notifyError } from './error-toasts.ts';
import { redirectTo } from './redirects.ts';
import { session } from './session.ts';
import { endedToast } from './toasts.ts';

/** Ends the session of `token` if the error says so and it is the current one. */
export function handleRequestError(error: ApiError, token: string | null): void {
  if (error.code === 'token_missing') return notifyError(error);
  if (token === null) return;
  if (!isCurrent(token)) {
    error.isNotified = true;
    return;
  }

  switch (error.code) {
    case 'token_expired':
      return endSession(error, token, !isLocalHost(location.hostname));
    case sessionEnded:
      return endSession(error, token, true);
    case 'pending_approval':
      return awaitApproval(error);
    case 'sign_in_needed':
      return signInWithCode(error, token);
    case 'new_owner':
      return writeToSupport(error);
  }
}

const isCurrent = (token: string) =>
  session.get().token === token && session.storedToken() === token;

function endSession(error: ApiError, token: string, redirects: boolean): void {
  session.end(token);
  notifyError(error, { id: endedToast });
  if (redirects) void redirectTo('/login', { comesBack: true });
}

function awaitApproval(error: ApiError): void {
  error.isNotified = true;
  session.updateUser((user) => ({ ...user, status: 'pending' }));
  void redirectTo('/pending-approval');
}

function signInWithCode(error: ApiError, token: string): void {
  session.askForCode(token);
  notifyError(error);
  void redirectTo('/login', { comesBack: true });
}

function writeToSupport(error: ApiError): void {
  error.isNotified = true;
  void redirectTo('/contact', { search: { about: 'number' } });
}
