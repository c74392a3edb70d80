import { ApiError } from './api-error.ts';
import { notify } from './notices.ts';
import { problemsWords } from './words/session.ts';

/** `text` is said whatever the failure's own sentence is, `fallback` where it has none. */
type Wording = { title?: string; fallback?: string; text?: string };

/** Shows a failure, unless somebody has shown it already. */
export function tell(error: unknown, { title, fallback, text: fixed }: Wording = {}): void {
  const text = fixed ?? sentenceOf(error, fallback);
  if (error instanceof ApiError && error.told) return;
  if (error instanceof ApiError) error.told = true;
  if (text === null) return;
  notify(title ? { type: 'error', title, description: text } : { type: 'error', title: text });
}

/** What a person reads about a failure; null where nothing is to be said. */
export function sentenceOf(error: unknown, fallback?: string): string | null {
  if (error instanceof ApiError) return error.notice ?? fallback ?? null;
  if (fallback) return fallback;
  return error instanceof Error && error.message ? error.message : problemsWords.unexpected;
}
