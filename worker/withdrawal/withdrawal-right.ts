import { payableStep } from '../contract/money.ts';
import { dayMs, hourMs } from '../lib/time.ts';

/*
 * The right to withdraw from a contract: Directive 2011/83/EU, articles 9,
 * 11a, 13 and 14. What was supplied is paid for only if the person asked
 * to start at once (article 14(3) and (4)).
 */

/** A day ends everywhere in UTC-12. */
const zoneMs = 12 * hourMs;

/**
 * The first instant (unix ms) at which a contract can no longer be
 * withdrawn. Nobody's last day is shorter than the law says, wherever
 * they are: at 23:30 UTC it is the next day in Berlin already.
 */
export function withdrawableUntil(concludedAt: number, days: number): number {
  const day = Math.floor((concludedAt + zoneMs) / dayMs);
  return (day + days + 1) * dayMs + zoneMs;
}

/**
 * A statement that was made without signing in takes effect after
 * this time (ms): whoever knows a number can make one, so its
 * owner is told at once, and can confirm it or object. The law
 * gives 14 days for the money. 0 lets it take effect at once.
 */
export const objectionMs = 2 * dayMs;

/** In whole cents and unix seconds. */
export type PaidPeriod = {
  paid: number;
  rest: number;
  start: number;
  end: number;
  currency: string;
};

/** In whole cents; `at` in unix seconds. */
export function refundOf(period: PaidPeriod, startNow: boolean, at: number): number {
  const owed = period.paid - (startNow ? usedOf(period, at) : 0);
  return Math.max(0, Math.min(owed, period.rest));
}

/** Rounded down to what can be paid. */
function usedOf({ paid, start, end, currency }: PaidPeriod, at: number): number {
  const length = end - start;
  if (length <= 0) return 0;

  const elapsed = Math.min(Math.max(at - start, 0), length);
  const step = payableStep(currency);
  return Math.floor((paid * elapsed) / length / step) * step;
}
