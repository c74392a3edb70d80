import { statusWords } from '../words/account.ts';

const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

/**
 * January 5, 2025, in the reader's own time zone unless another is given. Written without `Intl`, whose first use takes
 * 11 ms here and four times as long on a slow phone, before the first content of the account and the chat.
 */
export function formatDate(iso: string | null | undefined, timeZone?: string): string {
  const date = new Date(iso ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return statusWords.unknownDate;
  if (timeZone) return date.toLocaleDateString('en-US', { year: 'numeric', month: 'long', day: 'numeric', timeZone });
  return `${months[date.getMonth()]} ${date.getDate()}, ${date.getFullYear()}`;
}

/** 3:05 PM, in the reader's own time zone. */
export function formatTime(iso: string): string {
  const date = new Date(iso);
  const minutes = String(date.getMinutes()).padStart(2, '0');
  return `${date.getHours() % 12 || 12}:${minutes} ${date.getHours() < 12 ? 'AM' : 'PM'}`;
}
