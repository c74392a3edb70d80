import type { User } from '#db/schema';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { entitledTier, weeklyLimit } from '../usage/entitlement.ts';
import { currentCount } from '../usage/profile.ts';
import { currentWeek, weekMs } from '../usage/week.ts';

const waitSeconds = 5;

/** Why a new message is refused, or null; the same rules as SQL stand in `queueMessage`. */
export function refusalOf(user: User, waiting: number, settings: Settings, now: number): RequestError | null {
  if (!user.chatKey) return new RequestError('consentNeeded');
  const { used } = currentCount(user, now);
  const limit = weeklyLimit(entitledTier(user, now));
  if (limit >= 0 && used >= limit && (user.crisisUntil ?? 0) <= now) {
    const resetsAt = new Date(currentWeek(user, now) + weekMs).toISOString();
    return new RequestError('allowanceSpent', { fields: { used, limit, resetsAt } });
  }
  if (waiting < settings.CHAT_MESSAGES_WAITING) return null;
  return new RequestError('rateLimited', { retryAfter: waitSeconds });
}
