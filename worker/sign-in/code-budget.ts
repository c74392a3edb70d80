import { eq, type SQL } from 'drizzle-orm';
import { dailyCodes } from '#db/schema';
import { coalesce, valueOf } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import { dayMs, minuteMs } from '../lib/time.ts';

const lowShare = 0.8;
const longestRetrySeconds = 3600;

/**
 * A number whose owner wrote within this time (ms) has twice the budget, and
 * passes the limits of an address, which strangers could use up.
 */
export const justWrittenMs = 10 * minuteMs;

export function codeDay(now: number): number {
  return Math.floor(now / dayMs);
}

export function sentTodaySql(now: number): SQL<number> {
  const { sent, day } = dailyCodes;
  return coalesce(valueOf(sent, eq(day, codeDay(now))), 0);
}

/** Seconds, at most an hour. */
export function untilNextBudget(now: number): number {
  return Math.min(longestRetrySeconds, Math.ceil((dayMs - (now % dayMs)) / 1000));
}

export function reportCodeBudget(sent: number, budget: number): void {
  if (sent === budget) log('error', 'code_budget_spent', { sent, budget });
  else if (sent === Math.ceil(budget * lowShare))
    log('error', 'code_budget_low', {
      sent,
      budget,
    });
}
