import type { User } from '#db/schema';
import { RequestError } from '../lib/request-error.ts';
import { entitledTier, weeklyAllowance } from '../usage/allowance.ts';
import { currentCount, nextWeek } from '../usage/week.ts';
import type { QueueOutcome } from './message-queue.ts';

const waitSeconds = 5;

export function messageRefusal(
  outcome: Exclude<QueueOutcome, 'queued'>,
  user: User,
  now: number,
): RequestError {
  switch (outcome) {
    case 'consentNeeded':
    case 'voiceNotInPlan':
      return new RequestError(outcome);
    case 'allowanceSpent':
      return new RequestError('allowanceSpent', { fields: spentOf(user, now) });
    case 'rateLimited':
      return new RequestError('rateLimited', { retryAfter: waitSeconds });
  }
}

function spentOf(user: User, now: number) {
  const { used } = currentCount(user, now);
  const limit = weeklyAllowance(entitledTier(user, now));
  const resetsAt = new Date(nextWeek(user, now)).toISOString();
  return { used, limit, resetsAt };
}
