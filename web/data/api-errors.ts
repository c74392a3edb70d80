import type { ErrorCode } from '#contract/errors';
import { errorWords } from '#words/page-errors';
import { untilWords } from '#words/until';
import { momentText } from '../rules/moments.ts';
import { isLocalHost } from '../rules/browser-input.ts';
import { endedToast, showToast } from './toasts.ts';
import { redirectTo, session } from './session.ts';
import type { SendFailure } from './send.ts';
import { loaded } from './within.ts';

export type LocalErrorCode =
  | 'network'
  | 'slow'
  | 'file_missing'
  | 'token_missing'
  | 'token_expired'
  | 'session_replaced'
  /** The number may have a new owner, so a code does not help. */
  | 'new_owner';

type Details = {
  /** The text of the toast, by default the error's message. Null shows none. */
  toast?: string | null;
  status?: number | undefined;
  code?: ErrorCode | LocalErrorCode | undefined;
  isNotified?: boolean;
  until?: string | null;
  linkCode?: string | undefined;
};

/** A failed call. `isNotified` says that a toast was shown, or that none must be. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly toast: string | null;
  readonly status: number | null;
  readonly code: ErrorCode | LocalErrorCode | null;
  /** The time from which the call may succeed (ISO 8601). */
  readonly until: string | null;
  /** The person sends it to the assistant from this number to get a code. */
  readonly linkCode: string | undefined;
  isNotified: boolean;

  constructor(
    message: string,
    { toast = message, status, code, isNotified = false, until = null, linkCode }: Details = {},
  ) {
    super(message);
    this.toast = toast;
    this.status = status ?? null;
    this.code = code ?? null;
    this.until = until;
    this.linkCode = linkCode;
    this.isNotified = isNotified;
  }

  /** Says how the call failed; null if nothing was sent. */
  get kind(): 'unreachable' | 'slow' | 'refused' | 'ours' | null {
    if (this.code === 'network' || this.code === 'file_missing') return 'unreachable';
    if (this.code === 'slow') return 'slow';
    if (this.status === null) return null;
    return this.status >= 500 ? 'ours' : 'refused';
  }

  /** Whether the server may have carried out the call. */
  get isOutage(): boolean {
    return this.kind !== null && this.kind !== 'refused';
  }
}

export const sendFailed = (failure: SendFailure): ApiError =>
  failure === 'slow'
    ? new ApiError(errorWords.slow, { code: 'slow' })
    : new ApiError(errorWords.network, { code: 'network' });

/** Browsers wait for a lost file, or remember that it failed: only a reload brings it. */
export const fileMissing = (): ApiError =>
  new ApiError(errorWords.network, { code: 'file_missing' });

/** Makes an error that shows nothing, since the page has changed already. */
export const sessionReplaced = (): ApiError =>
  new ApiError(errorWords.noToken, { code: 'session_replaced', isNotified: true });

/** Ends the session of `token` if the error says so and it is the current one. */
export function handleRequestError(error: ApiError, token: string | null): void {
  if (error.code === 'token_missing') return notifyError(error);
  if (token === null) return;
  if (!isCurrent(token)) error.isNotified = true;
  else if (error.code === 'token_expired')
    endSession(error, token, !isLocalHost(location.hostname));
  else if (error.code === sessionEnded) endSession(error, token, true);
  else if (error.code === 'pending_approval') awaitApproval(error);
  else if (error.code === 'sign_in_needed') signInWithCode(error, token);
  else if (error.code === 'new_owner') writeToSupport(error);
}

/** A session ends by this code. Status 401 does not say so: wrong codes and some networks answer it. */
export const sessionEnded = 'unauthenticated' satisfies ErrorCode;

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

/** `text` replaces the error's sentence, `fallback` a missing one. */
type Wording = { title?: string; fallback?: string; text?: string; id?: string };

export function notifyError(
  error: unknown,
  { title, id, fallback, text = textUntil(error, fallback) }: Wording = {},
): void {
  if (error instanceof ApiError && error.isNotified) return;
  if (error instanceof ApiError) error.isNotified = true;
  if (text === undefined) return;
  const words = title ? { title, description: text } : { title: text };
  const reloads = error instanceof ApiError && error.code === 'file_missing';
  showToast({ type: 'error', reloads, ...words, ...(id ? { id } : {}) });
}

/** Opens what a file contains. */
export function openAfterLoading<File>(
  load: () => Promise<File>,
  open: (file: File) => void,
  leave?: () => void,
): void {
  loaded(load()).then(
    // The import gives no file while the page is loaded again after a deployment.
    (file) => file && open(file),
    () => {
      notifyError(fileMissing());
      leave?.();
    },
  );
}

export function errorMessage(error: unknown, fallback?: string): string | undefined {
  if (error instanceof ApiError) return error.toast ?? fallback;
  if (fallback) return fallback;
  return error instanceof Error && error.message ? error.message : errorWords.unexpected;
}

/** Returns what the page shows of an error; null if a toast has said it. */
export function failureOf(error: unknown): { text: string; until: string | null } | null {
  const { isNotified, until } = error instanceof ApiError ? error : unknownError;
  const text = errorMessage(error);
  return isNotified || text === undefined ? null : { text, until };
}

const unknownError = { isNotified: false, until: null };

function textUntil(error: unknown, fallback?: string): string | undefined {
  const text = errorMessage(error, fallback);
  const until = error instanceof ApiError ? error.until : null;
  return text && until ? `${text} ${untilWords.tryAgain(momentText(until))}` : text;
}

/** The page shows `error`, and a toast shows `toast` unless it is null. */
export type ErrorText = { error: string; toast: string | null };

/** Returns the sentences of an error: fixed ones for some statuses, else the server's message. */
export function errorText(
  status: number,
  message: string | undefined,
  hasSessionEnded: boolean,
  code?: string,
): ErrorText {
  // Repeating does not mend this outage; its sentence names the way out.
  if (code === 'codes_unavailable' && message) return both(message);
  if (hasSessionEnded) return both(errorWords.sessionExpired);
  if (status === 403)
    return { error: errorWords.permissionDenied, toast: message ?? errorWords.noPermission };
  if (status === 404) return { error: errorWords.notFound, toast: null };
  if (status === 429) return { error: errorWords.rateLimit, toast: errorWords.tooManyRequests };
  if (status === 500 || status === 502 || status === 503) return both(errorWords.server);
  return both(message ?? errorWords.failedWithStatus(status));
}

const both = (text: string): ErrorText => ({ error: text, toast: text });
