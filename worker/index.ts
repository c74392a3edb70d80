import { app } from './app.ts';
import type { Env } from './env.ts';
import { runScheduledTasks } from './scheduled.ts';

export { Conversation } from './chat/conversation.ts';
export { UsageChannel } from './usage/usage-channel.ts';

export default {
  fetch: app.fetch,
  scheduled: ({ cron }, env, ctx) => runScheduledTasks(cron, env, ctx),
} satisfies ExportedHandler<Env>;
