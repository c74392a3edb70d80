import { statusWords } from '../words/account.ts';

/** January 5, 2025, in the reader's own time zone unless another is given. */
export function formatDate(iso: string | null | undefined, timeZone?: string): string {
  const date = new Date(iso ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return statusWords.unknownDate;
  return date.toLocaleDateString('en-US', {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    ...(timeZone ? { timeZone } : {}),
  });
}
