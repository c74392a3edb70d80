import { words } from '../words.ts';

/** `error` is what is thrown, `notice` what a person is told; null tells nothing. */
export type ProblemWords = { error: string; notice: string | null };

const { problems } = words;

/** What an HTTP status means in words; the server's message is used where one may be. */
export function problemWords(status: number, message: string | undefined, isProtected: boolean): ProblemWords {
  if (status === 401 && isProtected) return both(problems.sessionExpired);
  if (status === 403) return { error: problems.permissionDenied, notice: message ?? problems.noPermission };
  if (status === 404) return { error: problems.notFound, notice: null };
  if (status === 429) return { error: problems.rateLimit, notice: problems.tooManyRequests };
  if (status === 500 || status === 502 || status === 503) return both(problems.server);
  return both(message ?? problems.failedWithStatus(status));
}

const both = (text: string): ProblemWords => ({ error: text, notice: text });
