import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import worker from '../../../worker/index.ts';

/** What Cloudflare does every minute, or every hour. */
export async function runCron(cron: '* * * * *' | '0 * * * *' = '* * * * *'): Promise<void> {
  const ctx = createExecutionContext();
  await worker.scheduled(createScheduledController({ cron }), env as never, ctx);
  await waitOnExecutionContext(ctx);
}
