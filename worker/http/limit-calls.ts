import type { EndpointName } from '../contract/endpoints.ts';
import { networkOf } from '../lib/caller.ts';
import { keyedHash } from '../lib/crypto.ts';
import { describeError, log } from '../lib/log.ts';
import { CallLimiter } from '../lib/rate-limits.ts';
import { memoize } from '../lib/memoize.ts';
import { rateLimited, RequestError } from '../lib/request-error.ts';
import { minuteMs } from '../lib/time.ts';
import type { Settings } from '../settings.ts';
import type { UserSession } from '../identity/user-session.ts';
import type { BaseScope } from './handlers.ts';

const limitersOf = memoize((settings: Settings) => ({
  calls: new CallLimiter(settings.require('LIMIT_CALLS_PER_USER')),
  refusals: new CallLimiter(settings.require('LIMIT_CALLS_PER_USER')),
}));

/**
 * Whether an address is within the coarse limit of a public call;
 * the exact limits on signing in are in the database. Each call has
 * a bucket of its own, so that none uses up what another one needs.
 */
export async function isWithinAddress(
  name: EndpointName,
  { env, address }: BaseScope,
): Promise<boolean> {
  const network = networkOf(address);
  const results = await Promise.all([
    isWithin(env.RATE_LIMITER, `${name}:${address}`),
    network ? isWithin(env.NETWORK_RATE_LIMITER, `${name}:${network}`) : true,
  ]);
  return results.every(Boolean);
}

/** A limiter that fails refuses nobody, since the database has the exact limits. */
async function isWithin(limiter: RateLimit, key: string): Promise<boolean> {
  try {
    return (await limiter.limit({ key })).success;
  } catch (error) {
    log('info', 'limiter_failed', describeError(error));
    return true;
  }
}

/**
 * Behind an address that others have used up, each number
 * still has a bucket of its own. All of these together
 * have one of the address, which is five times as large.
 */
export async function limitByNumber(
  name: EndpointName,
  { env, settings, address }: BaseScope,
  phone: string | undefined,
): Promise<void> {
  if (phone === undefined) throw tooManyCalls();
  const number = await keyedHash(settings.CODE_PEPPER[0]!, 'limit', phone);
  const results = await Promise.all([
    isWithin(env.RATE_LIMITER, `${name}:${number}`),
    isWithin(env.NETWORK_RATE_LIMITER, `${name}:${address}`),
  ]);
  if (!results.every(Boolean)) throw tooManyCalls();
}

const tooManyCalls = () => new RequestError('rateLimited', { retryAfter: 60 });

const failuresOfAddress = { most: 600, per: minuteMs };
/** A signature or token is wrong: by address and /48. */
const failures = new CallLimiter([failuresOfAddress]);
const failuresOfNetwork = new CallLimiter([{ ...failuresOfAddress, most: 3000 }]);

function failuresAllowedAt({ address, now }: BaseScope): number {
  const network = networkOf(address);
  const ofNetwork = network ? failuresOfNetwork.allowedAt(network, now) : 0;
  return Math.max(failures.allowedAt(address, now), ofNetwork);
}

/**
 * Whoever has failed too often may still prove
 * a body of this size, which costs nothing.
 */
const smallBodyBytes = 64 * 1024;

export function countFailure(scope: BaseScope, error: RequestError): RequestError {
  const { address, now } = scope;
  const allowedAt = failuresAllowedAt(scope);
  if (allowedAt > 0) return rateLimited(allowedAt, now);

  const network = networkOf(address);
  failures.count(address, now);
  if (network) failuresOfNetwork.count(network, now);
  return error;
}

export function refuseLargeBody(scope: BaseScope): void {
  if (isSmall(scope.request)) return;
  const allowedAt = failuresAllowedAt(scope);
  if (allowedAt > 0) throw rateLimited(allowedAt, scope.now);
}

function isSmall({ headers }: Request): boolean {
  return Number(headers.get('content-length') ?? Infinity) <= smallBodyBytes;
}

export async function withinUserLimit<T>(
  { env, settings, now }: BaseScope,
  { tokenUserId, sessionId }: UserSession,
  work: () => Promise<T>,
): Promise<T> {
  const { calls, refusals } = limitersOf(settings);
  if (refusals.counted(sessionId) > 0) throw countRefusedCall(refusals, sessionId, now);
  const allowedAt = calls.count(tokenUserId, now);
  if (allowedAt > 0) throw rateLimited(allowedAt, now);
  if (!(await isWithin(env.RATE_LIMITER, sessionId))) throw tooManyCalls();

  try {
    return await work();
  } catch (error) {
    if (!(error instanceof RequestError && error.errorName === 'unauthenticated')) throw error;
    calls.undoCount(tokenUserId, now);
    throw countRefusedCall(refusals, sessionId, now);
  }
}

function countRefusedCall(refusals: CallLimiter, sessionId: string, now: number): RequestError {
  const allowedAt = refusals.count(sessionId, now);
  return allowedAt > 0 ? rateLimited(allowedAt, now) : new RequestError('unauthenticated');
}
