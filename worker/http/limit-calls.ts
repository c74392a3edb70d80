import { networkOf } from '../lib/caller.ts';
import { CallLimiter } from '../lib/rate-limits.ts';
import { memoize } from '../lib/memoize.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import type { UserSession } from '../accounts/user-session.ts';
import type { BaseContext } from './request-context.ts';

/**
 * A call of the platform's rate limiter costs 50 to 80 µs of CPU (2026-11-22, tests/bench), so only busy sessions are
 * counted there.
 */
const quietCalls = 60;

const userLimiterOf = memoize((settings: Settings) => new CallLimiter(settings.LIMIT_CALLS_PER_USER));

/** A coarse limit in each location; the exact limits on signing in are in the database. */
export async function limitByAddress({ env, address }: BaseContext): Promise<void> {
  const network = networkOf(address);
  const results = await Promise.all([
    env.RATE_LIMITER.limit({ key: address }),
    ...(network ? [env.NETWORK_RATE_LIMITER.limit({ key: network })] : []),
  ]);
  if (!results.every(({ success }) => success)) throw new RequestError('rateLimited', { retryAfter: 60 });
}

/**
 * Applies the user's rate limit without a database request: exactly in this isolate, and coarsely by session across
 * the isolates of a location. Calls of an ended session do not count for the user.
 */
export async function withinUserLimit<T>(
  { env, settings, now }: BaseContext,
  { claimedUserId, sessionId }: UserSession,
  work: () => Promise<T>,
): Promise<T> {
  const limiter = userLimiterOf(settings);
  const allowedAt = limiter.count(claimedUserId, now);
  if (allowedAt > 0) throw rateLimited(allowedAt, now);
  const busy = limiter.counted(claimedUserId) > quietCalls;
  if (busy && !(await env.RATE_LIMITER.limit({ key: sessionId })).success)
    throw new RequestError('rateLimited', { retryAfter: 60 });
  try {
    return await work();
  } catch (error) {
    if (error instanceof RequestError && error.errorName === 'unauthenticated') limiter.giveBack(claimedUserId, now);
    throw error;
  }
}
