import type { LiveUser } from './live/live-user.ts';
import type { Scope } from './request-scope.ts';

export type Env = {
  LIVE_USER: DurableObjectNamespace<LiveUser>;
  RATE_LIMITER: RateLimit;
  NETWORK_RATE_LIMITER: RateLimit;
  /** Only Cloudflare and `wrangler dev` give it. */
  VERSION?: WorkerVersionMetadata;
} & Record<string, unknown>;

export type WithEnv = { env: Env };

/** What work after a response needs. */
export type EnvScope = Scope<'db' | 'settings' | 'waitUntil'> & WithEnv;
