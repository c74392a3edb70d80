import { problemsWords } from '../words/session.ts';

/** `error` is what is thrown, `notice` what a person is told; null tells nothing. */
export type ProblemWords = { error: string; notice: string | null };

/** What an HTTP status means in words; the server's message is used where one may be. */
export function problemWords(status: number, message: string | undefined, isProtected: boolean): ProblemWords {
  if (status === 401 && isProtected) return both(problemsWords.sessionExpired);
  if (status === 403) return { error: problemsWords.permissionDenied, notice: message ?? problemsWords.noPermission };
  if (status === 404) return { error: problemsWords.notFound, notice: null };
  if (status === 429) return { error: problemsWords.rateLimit, notice: problemsWords.tooManyRequests };
  if (status === 500 || status === 502 || status === 503) return both(problemsWords.server);
  return both(message ?? problemsWords.failedWithStatus(status));
}

const both = (text: string): ProblemWords => ({ error: text, notice: text });
