import { statusWords } from '#words/account';
import { locale } from '#words/language';
import { dateText, monthText, timeText } from '#words/intl';

/** Without `Intl`, whose first use takes 11 ms, four times as long on a slow phone. */
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

/** Of the International Telecommunication Union: 1 and 7 have one digit, all others three. */
const twoDigits = /^(2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;

function callingCode(digits: string): string {
  if (/^[17]/.test(digits)) return digits.slice(0, 1);
  return digits.slice(0, twoDigits.test(digits) ? 2 : 3);
}

/** +CC AAA-BBB-CCCC; another length changes the last group. */
export function formatPhone(phone: string | null | undefined): string {
  if (!phone) return statusWords.invalidNumber;
  const digits = phone.replace(/\D/g, '');
  const code = callingCode(digits);
  const match = /^(\d{3})(\d{3})(\d{3,5})$/.exec(digits.slice(code.length));
  return match ? `+${code} ${match[1]}-${match[2]}-${match[3]}` : phone;
}

export function sourceDate(readOn: string): string {
  const [year = '', month] = readOn.split('-');
  return month ? monthText(Number(month) - 1, Number(year)) : year;
}
