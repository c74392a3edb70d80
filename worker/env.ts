import type { Conversation } from './chat/conversation.ts';
import type { UsageChannel } from './usage/usage-channel.ts';

/** The Worker's environment: bindings, and settings as text. */
export type Env = {
  USAGE_CHANNEL: DurableObjectNamespace<UsageChannel>;
  CONVERSATION: DurableObjectNamespace<Conversation>;
  RATE_LIMITER: RateLimit;
  NETWORK_RATE_LIMITER: RateLimit;
  /** Only Cloudflare and `wrangler dev` give it. */
  VERSION?: WorkerVersionMetadata;
} & Record<string, unknown>;
