import { networkOf } from '../lib/caller.ts';
import { CallLimiter } from '../lib/rate-limits.ts';
import { memoize } from '../lib/memoize.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import type { UserSession } from '../accounts/user-session.ts';
import type { BaseContext } from './request-context.ts';

/** The platform's rate limiter costs 50 to 80 µs of CPU (2026-11-22, tests/bench): only busy sessions use it. */
const quietCalls = 60;

const limitersOf = memoize((settings: Settings) => ({
  calls: new CallLimiter(settings.LIMIT_CALLS_PER_USER),
  /** By session: calls that were refused because it has ended. */
  refusals: new CallLimiter(settings.LIMIT_CALLS_PER_USER),
}));

/** A coarse limit in each location; the exact limits on signing in are in the database. */
export async function limitByAddress({ env, address }: BaseContext): Promise<void> {
  const network = networkOf(address);
  const results = await Promise.all([
    env.RATE_LIMITER.limit({ key: address }),
    ...(network ? [env.NETWORK_RATE_LIMITER.limit({ key: network })] : []),
  ]);
  if (!results.every(({ success }) => success))
    throw new RequestError('rateLimited', { retryAfter: 60 });
}

/** Limits a user's calls without a database request; those of an ended session count for that session alone. */
export async function withinUserLimit<T>(
  { env, settings, now }: BaseContext,
  { claimedUserId, sessionId }: UserSession,
  work: () => Promise<T>,
): Promise<T> {
  const { calls, refusals } = limitersOf(settings);
  if (refusals.counted(sessionId) > 0) throw refusalOf(refusals, sessionId, now);
  const allowedAt = calls.count(claimedUserId, now);
  if (allowedAt > 0) throw rateLimited(allowedAt, now);
  const busy = calls.counted(claimedUserId) > quietCalls;
  if (busy && !(await env.RATE_LIMITER.limit({ key: sessionId })).success)
    throw new RequestError('rateLimited', { retryAfter: 60 });
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RequestError && error.errorName === 'unauthenticated')) throw error;
    calls.giveBack(claimedUserId, now);
    throw refusalOf(refusals, sessionId, now);
  }
}

function refusalOf(refusals: CallLimiter, sessionId: string, now: number): RequestError {
  const allowedAt = refusals.count(sessionId, now);
  return allowedAt > 0 ? rateLimited(allowedAt, now) : new RequestError('unauthenticated');
}
