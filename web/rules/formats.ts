import { statusWords } from '#words/account';
import { locale } from '#words/language';
import { dateText, monthText, timeText } from '#words/intl';

/**
 * January 5, 2025, in the reader's own time zone unless another is given. Written without `Intl`, whose first use takes
 * 11 ms here and four times as long on a slow phone, before the first content of the account and the chat.
 */
export function formatDate(iso: string | null | undefined, timeZone?: string): string {
  const date = new Date(iso ?? Number.NaN);
  if (Number.isNaN(date.getTime())) return statusWords.unknownDate;
  if (timeZone)
    return date.toLocaleDateString(locale, {
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      timeZone,
    });
  return dateText(date.getDate(), date.getMonth(), date.getFullYear());
}

/** January 5, 2025, 3:05 PM, in the reader's own time zone. */
export function formatMoment(iso: string): string {
  const date = new Date(iso);
  return `${formatDate(iso)}, ${timeText(date.getHours(), date.getMinutes())}`;
}

/** +CC AAA-BBB-CCCC: the last ten digits are the number, the digits before are the country code. */
export function formatPhone(phone: string | null | undefined): string {
  if (!phone) return statusWords.invalidNumber;
  const digits = phone.replace(/\D/g, '');
  const match = /^(\d{1,5})(\d{3})(\d{3})(\d{4})$/.exec(digits);
  return match ? `+${match[1]} ${match[2]}-${match[3]}-${match[4]}` : phone;
}

/** The year, and the month if it is known, of an ISO 8601 date of any precision. */
export function sourceDate(readOn: string): string {
  const [year = '', month] = readOn.split('-');
  return month ? monthText(Number(month) - 1, Number(year)) : year;
}
