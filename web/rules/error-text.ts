import { errorWords } from '../words/session.ts';

/** `error` is the thrown message, `notice` the shown one; null shows nothing. */
export type ErrorText = { error: string; notice: string | null };

/** The texts for an HTTP status; includes the server's message where the specification allows it. */
export function errorText(status: number, message: string | undefined, isProtected: boolean): ErrorText {
  if (status === 401 && isProtected) return both(errorWords.sessionExpired);
  if (status === 403) return { error: errorWords.permissionDenied, notice: message ?? errorWords.noPermission };
  if (status === 404) return { error: errorWords.notFound, notice: null };
  if (status === 429) return { error: errorWords.rateLimit, notice: errorWords.tooManyRequests };
  if (status === 500 || status === 502 || status === 503) return both(errorWords.server);
  return both(message ?? errorWords.failedWithStatus(status));
}

const both = (text: string): ErrorText => ({ error: text, notice: text });
