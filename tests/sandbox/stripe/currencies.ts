import { invalid } from './api/errors.ts';

/*
 * Amounts are whole numbers of a currency's smallest unit: https://docs.stripe.com/currencies#zero-decimal
 */

const wholeUnits = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf';
const thousandths = 'bhd jod kwd omr tnd';
/** Written in hundredths, and paid in whole units. */
const wholeInHundredths = 'isk ugx';

function decimalsOf(currency: string): number {
  if (wholeUnits.includes(currency)) return 0;
  return thousandths.includes(currency) ? 3 : 2;
}

/** The amounts that can be paid are multiples of it: the last digit of thousandths is 0. */
function stepOf(currency: string): number {
  if (thousandths.includes(currency)) return 10;
  return wholeInHundredths.includes(currency) ? 100 : 1;
}

/** https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts */
const least: Record<string, number> = {
  aed: 200,
  czk: 1500,
  dkk: 250,
  gbp: 30,
  hkd: 400,
  huf: 17_500,
  mxn: 1000,
  myr: 200,
  nok: 300,
  pln: 200,
  ron: 200,
  sek: 300,
  thb: 1000,
  // Of other currencies, about what half a dollar is worth.
  bhd: 190,
  isk: 7000,
  jod: 360,
  krw: 700,
  kwd: 160,
  omr: 200,
  tnd: 1600,
};

/** Stripe charges no less: it is added to the customer's balance for the next invoice. */
export const leastCharge = (currency: string): number => least[currency] ?? 50;

/** Throws for an amount that no bank can move. */
export function requirePayable(amount: number, currency: string, param = 'amount'): void {
  const step = stepOf(currency);
  if (amount % step === 0) return;

  const code = currency.toUpperCase();
  throw invalid(`Invalid amount: in ${code}, it must be divisible by ${step}.`, param);
}

export function formatMoney(amount: number, currency: string): string {
  const decimals = decimalsOf(currency);
  const digits = stepOf(currency) === 100 ? 0 : decimals;
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: currency.toUpperCase(),
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(amount / 10 ** decimals);
}
