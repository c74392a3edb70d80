import { app } from './app.ts';
import type { Env } from './env.ts';
import { runScheduledTasks } from './scheduled.ts';

export { LiveUser } from './live/live-user.ts';

export default {
  fetch: app.fetch,
  scheduled: ({ cron }, env, ctx) => runScheduledTasks(cron, env, ctx),
} satisfies ExportedHandler<Env>;
