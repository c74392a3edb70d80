import { errorWords } from '#words/page-errors';
import { untilWords } from '#words/until';
import { momentText } from '../rules/moments.ts';
import { ApiError, fileMissing, markNotified } from './api-error.ts';
import { showToast } from './toasts.ts';
import { loadInTime } from './promise-limit.ts';

/** `text` replaces the error's sentence, `fallback` a missing one. */
export type Wording = { title?: string; fallback?: string; text?: string; id?: string };

export function notifyError(
  error: unknown,
  { title, id, fallback, text = textUntil(error, fallback) }: Wording = {},
): void {
  if (error instanceof ApiError && error.isNotified) return;
  markNotified(error);
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
  loadInTime(load()).then(
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

type Refusal = {
  status: number;
  message: string | undefined;
  hasSessionEnded: boolean;
  code?: string | undefined;
};

/** Returns the sentences of an error: fixed ones for some statuses, else the server's message. */
export function errorText({ status, message, hasSessionEnded, code }: Refusal): ErrorText {
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
