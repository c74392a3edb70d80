import { statusWords, accountWords } from '../words/account.ts';

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

/** +CC AAA-BBB-CCCC: the last ten digits are the number, the digits before are the country code. */
export function formatPhone(phone: string | null | undefined): string {
  if (!phone) return accountWords.invalidNumber;
  const digits = phone.replace(/\D/g, '');
  const match = /^(\d{1,5})(\d{3})(\d{3})(\d{4})$/.exec(digits);
  return match ? `+${match[1]} ${match[2]}-${match[3]}-${match[4]}` : phone;
}

/** The year, and the month if it is known, of an ISO 8601 date of any precision. */
export function sourceDate(readOn: string): string {
  const hasMonth = readOn.length > 4;
  const format = new Intl.DateTimeFormat('en-US', {
    year: 'numeric',
    ...(hasMonth && { month: 'long' }),
    timeZone: 'UTC',
  });
  return format.format(new Date(readOn));
}
