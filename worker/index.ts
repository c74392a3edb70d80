import { app } from './app.ts';
import type { Env } from './env.ts';
import { runChores } from './scheduled.ts';

export { UsageFeed } from './usage/feed.ts';

export default {
  fetch: app.fetch,
  scheduled: ({ cron }, env, ctx) => runChores(cron, env, ctx),
} satisfies ExportedHandler<Env>;
