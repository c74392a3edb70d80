import { statusWords } from '#words/account';

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
