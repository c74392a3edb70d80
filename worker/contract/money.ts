/** https://docs.stripe.com/currencies#zero-decimal */

const wholeUnits = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf';
const thousandths = 'bhd jod kwd omr tnd';
/** Written in hundredths, and paid in whole units. */
const wholeInHundredths = 'isk ugx';

function decimalsOf(currency: string): number {
  if (wholeUnits.includes(currency)) return 0;
  return thousandths.includes(currency) ? 3 : 2;
}

/** The last digit of thousandths is always 0. */
export function payableStep(currency: string): number {
  if (thousandths.includes(currency)) return 10;
  return wholeInHundredths.includes(currency) ? 100 : 1;
}

const majorUnits = (amount: number, currency: string): number =>
  amount / 10 ** decimalsOf(currency);

export const decimalOf = (amount: number, currency: string): string =>
  majorUnits(amount, currency).toFixed(decimalsOf(currency));

export const moneyWithCode = (amount: number, currency: string): string =>
  `${decimalOf(amount, currency)} ${currency.toUpperCase()}`;

export function formatMoney(
  amount: number,
  currency: string,
  language: string,
  options: Intl.NumberFormatOptions = {},
): string {
  const digits = payableStep(currency) === 100 ? 0 : decimalsOf(currency);
  const format = new Intl.NumberFormat(language, {
    style: 'currency',
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    ...options,
  });
  return format.format(majorUnits(amount, currency));
}
