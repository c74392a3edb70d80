import worker from '../../../worker/index.ts';
import { runScheduledTasks } from '../../../worker/scheduled.ts';
import { LiveUser as Live } from '../../../worker/live/live-user.ts';
import type { Env } from '../../../worker/env.ts';

export class LiveUser extends Live {
  openSockets(): number {
    return this.ctx.getWebSockets().length;
  }
}

/** The product, and beside it `/socket-count?user=…`, the sockets of users' live objects, and `/cron`, the tasks of each minute. */
export default {
  async fetch(request, env, ctx): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/cron') {
      await runScheduledTasks('* * * * *', env, ctx);
      return new Response();
    }
    if (pathname !== '/socket-count') return worker.fetch(request, env, ctx);
    const objects = env.LIVE_USER as unknown as DurableObjectNamespace<LiveUser>;
    const counts = await Promise.all(
      searchParams.getAll('user').map((user) => objects.getByName(user).openSockets()),
    );
    return Response.json({ sockets: counts.reduce((sum, count) => sum + count, 0) });
  },
} satisfies ExportedHandler<Env>;
