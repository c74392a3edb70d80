import { finishLeftovers, reconcile } from './billing/reconcile.ts';
import { openDatabase, type Traffic } from './db.ts';
import type { Env } from './env.ts';
import { surpriseOf } from './http/failure.ts';
import { log } from './log.ts';
import { deliverOutbox } from './messaging/deliver-outbox.ts';
import { settingsOf } from './settings.ts';
import { sweep } from './sweep.ts';
import { endTrials } from './usage/end-trials.ts';
import { publish } from './usage/publish.ts';

const hourly = '0 * * * *';

/** What the crons finish: each chore on its own, so that one that fails does not stop the others. */
export async function runChores(cron: string, env: Env, ctx: ExecutionContext): Promise<void> {
  const settings = settingsOf(env);
  if (!settings) return;
  const traffic: Traffic = { requests: 0, unreachable: false };
  const db = openDatabase(settings, traffic);
  const billing = { db, env, settings, later: (work: Promise<unknown>) => ctx.waitUntil(work) };
  const now = Date.now();
  const chores: Record<string, () => Promise<unknown>> =
    cron === hourly
      ? { reconcile: () => reconcile(billing, now) }
      : {
          endTrials: () => tellEndedTrials(),
          deliverOutbox: () => deliverOutbox(db, settings),
          finishLeftovers: () => finishLeftovers(billing, now),
          sweep: () => sweep(db, now),
        };
  for (const [chore, run] of Object.entries(chores)) {
    await run().catch((error: unknown) => log('error', 'chore_failed', { chore, ...surpriseOf(error) }));
  }

  async function tellEndedTrials(): Promise<void> {
    const users = await endTrials(db, now);
    await Promise.all(users.map((id) => publish(env, id, { kind: 'changed' })));
  }
}
