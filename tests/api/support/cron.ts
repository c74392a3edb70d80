import { createExecutionContext, createScheduledController, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import worker from '../../../worker/index.ts';

/** Runs the scheduled tasks, as Cloudflare does every minute or hour. */
export async function runCron(cron: '* * * * *' | '0 * * * *' = '* * * * *'): Promise<void> {
  const ctx = createExecutionContext();
  await worker.scheduled(createScheduledController({ cron }), env as never, ctx);
  await waitOnExecutionContext(ctx);
}
