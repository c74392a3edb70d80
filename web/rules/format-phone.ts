import { accountWords } from '../words/account.ts';

/** +CC AAA-BBB-CCCC: the last ten digits are the number, the digits before are the country code. */
export function formatPhone(phone: string | null | undefined): string {
  if (!phone) return accountWords.invalidNumber;
  const digits = phone.replace(/\D/g, '');
  const match = /^(\d{1,5})(\d{3})(\d{3})(\d{4})$/.exec(digits);
  return match ? `+${match[1]} ${match[2]}-${match[3]}-${match[4]}` : phone;
}
