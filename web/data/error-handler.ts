import { errorWords } from '../words/session.ts';
import { isLocalHost } from '../rules/hosts.ts';
import { ApiError } from './api-error.ts';
import { notify } from './notices.ts';
import { redirectTo } from './redirects.ts';
import { session } from './session.ts';

/**
 * Decides whether a failed call ends the session, and where to redirect. The failure of a call with another token than
 * the current one changes nothing and shows nothing.
 */
export function handleRequestError(error: ApiError, token: string | null): void {
  if (error.code === 'token_missing') return notifyError(error);
  if (token === null) return;
  if (!isCurrent(token)) error.isNotified = true;
  else if (error.code === 'token_expired') endSession(error, token, !isLocalHost(location.hostname));
  else if (error.status === 401) endSession(error, token, true);
  else if (error.code === 'pending_approval') awaitApproval(error);
}

const isCurrent = (token: string) => session.get().token === token && session.storedToken() === token;

function endSession(error: ApiError, token: string, redirects: boolean): void {
  session.end(token);
  notifyError(error);
  if (redirects) void redirectTo('/login');
}

function awaitApproval(error: ApiError): void {
  error.isNotified = true;
  session.updateUser((user) => ({ ...user, status: 'pending' }));
  void redirectTo('/pending-approval');
}

/** `text` replaces the error's own sentence; `fallback` is shown if the error has none. */
type Wording = { title?: string; fallback?: string; text?: string };

/** Shows an error unless it was shown already. */
export function notifyError(
  error: unknown,
  { title, fallback, text = errorMessage(error, fallback) }: Wording = {},
): void {
  if (error instanceof ApiError && error.isNotified) return;
  if (error instanceof ApiError) error.isNotified = true;
  if (text === undefined) return;
  notify(title ? { type: 'error', title, description: text } : { type: 'error', title: text });
}

/** The shown sentence of an error; undefined to show nothing. */
export function errorMessage(error: unknown, fallback?: string): string | undefined {
  if (error instanceof ApiError) return error.notice ?? fallback;
  if (fallback) return fallback;
  return error instanceof Error && error.message ? error.message : errorWords.unexpected;
}
