import worker from '../../../worker/index.ts';
import { runScheduledTasks } from '../../../worker/scheduled.ts';
import { UsageChannel as Channel } from '../../../worker/usage/usage-channel.ts';
import type { Env } from '../../../worker/env.ts';

export { Conversation } from '../../../worker/chat/conversation.ts';

/** The product's usage channel, which also returns the number of its sockets. */
export class UsageChannel extends Channel {
  openSockets(): number {
    return this.ctx.getWebSockets().length;
  }
}

type Counted = DurableObjectNamespace<UsageChannel>;

/**
 * The product, and beside it `/socket-count?user=…&user=…`, the number of sockets of those users' channels, and `/cron`, which
 * runs the tasks of each minute.
 */
export default {
  async fetch(request, env, ctx): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/cron') {
      await runScheduledTasks('* * * * *', env, ctx);
      return new Response();
    }
    if (pathname !== '/socket-count') return worker.fetch(request, env, ctx);
    const channels = env.USAGE_CHANNEL as unknown as Counted;
    const counts = await Promise.all(searchParams.getAll('user').map((user) => channels.getByName(user).openSockets()));
    return Response.json({ sockets: counts.reduce((sum, count) => sum + count, 0) });
  },
} satisfies ExportedHandler<Env>;
