import type { UsageFeed } from './usage/feed.ts';

/** What Cloudflare hands to the Worker: its bindings, and the settings as text. */
export type Env = { USAGE_FEED: DurableObjectNamespace<UsageFeed>; PUBLIC_FENCE: RateLimit } & Record<string, unknown>;
