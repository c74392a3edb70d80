import type { Output } from '#contract/endpoints';
import { formatMoney } from '#contract/money';
import { locale } from '#words/language';
import { withdrawWords } from '#words/withdraw';
import { formatDate } from './formats.ts';
import { formatInstant } from './receipt-view.ts';
import { planName } from './plan-texts.ts';

export type Contract = NonNullable<Output<'getWithdrawal'>['contract']>;

function refundLine({ paid, refund, currency }: Contract): string {
  if (paid === null || refund === null) return withdrawWords.refundOpen;
  if (paid === 0) return withdrawWords.refundNothing;

  const money = (amount: number) => formatMoney(amount, currency, locale);
  if (refund === paid) return withdrawWords.refundAll(money(refund));
  return withdrawWords.refundPart({
    refund: money(refund),
    paid: money(paid),
    used: money(paid - refund),
  });
}

/** Whole cents; nothing while it is not computed. */
export function refundText(refund: number | null, currency = ''): string | undefined {
  return refund && currency ? formatMoney(refund, currency, locale) : undefined;
}

export function contractFacts(contract: Contract): { name: string; text: string }[] {
  return [
    { name: withdrawWords.plan, text: planName(contract.tier) },
    { name: withdrawWords.concluded, text: formatDate(contract.concludedAt) },
    { name: withdrawWords.until, text: formatInstant(contract.withdrawableUntil) },
    { name: withdrawWords.refund, text: refundLine(contract) },
  ];
}
