import { statusWords } from '#words/account';
import { locale } from '#words/language';
import { dateText, monthText, timeText } from '#words/intl';

/** Formats without `Intl`: its first use takes 11 ms, and 44 ms on a slow phone. */
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

export function formatMoment(iso: string): string {
  const date = new Date(iso);
  return `${formatDate(iso)}, ${timeText(date.getHours(), date.getMinutes())}`;
}

export function sourceDate(readOn: string): string {
  const [year = '', month] = readOn.split('-');
  return month ? monthText(Number(month) - 1, Number(year)) : year;
}
