import type { SQL } from 'drizzle-orm';
import { reviewDisputes } from './billing/disputes.ts';
import { reconcile } from './billing/sync.ts';
import { openDatabase, type Traffic } from './lib/database.ts';
import type { Env, EnvScope } from './env.ts';
import { eraseConversations } from './chat/clear-conversation.ts';
import { messageEvents } from './chat/message-delivery.ts';
import { rewrapChatKeys } from './chat/rewrap-chat-keys.ts';
import { deliverOutbox, expireMessages } from './bot/deliver-outbox.ts';
import { sealParkedDeletions } from './bot/parked-deletions.ts';
import { settingsOf } from './settings.ts';
import { deleteExpiredRows } from './account/delete-expired.ts';
import { describeError, inBackground, log } from './lib/log.ts';
import { mailReceipts } from './withdrawal/send-receipt-mails.ts';
import { reviewWithdrawals, settleWithdrawals } from './withdrawal/settlement.ts';
import { endTrials } from './trials/trials.ts';
import { publish } from './live/publish.ts';
import {
  closeUnclosedCustomers,
  deleteAccount,
  resumeDeletions,
} from './account/account-deletion.ts';
import { reviewAccounts } from './account/account-retention.ts';

const hourly = '0 * * * *';
const stripeTasks = new Set([
  'reviewDisputes',
  'reconcile',
  'reviewAccounts',
  'closeUnclosedCustomers',
  'settleWithdrawals',
]);

/** A task that fails does not stop the others. */
export async function runScheduledTasks(
  cron: string,
  env: Env,
  ctx: ExecutionContext,
): Promise<void> {
  const settings = settingsOf(env);
  if (!settings) return;

  const traffic: Traffic = { requests: 0, unreachable: false };
  const db = openDatabase(settings, traffic);
  const scope = {
    db,
    env,
    settings,
    waitUntil: (work: Promise<unknown>) => ctx.waitUntil(inBackground(work, null)),
  };

  const now = Date.now();
  const tasks = cron === hourly ? hourlyTasks(scope, now) : frequentTasks(scope, now);
  const withoutStripe = !settings.isRight('STRIPE_API_BASE', 'STRIPE_SECRET_KEY');

  for (const [task, run] of Object.entries(tasks)) {
    if (withoutStripe && stripeTasks.has(task)) continue;
    await run().catch((error: unknown) =>
      log('error', 'task_failed', { task, ...describeError(error) }),
    );
  }
}

type Tasks = Record<string, () => Promise<unknown>>;

function hourlyTasks(scope: EnvScope, now: number): Tasks {
  const { db, settings } = scope;
  const deleteOnly = (id: string, only: SQL) => deleteAccount(scope, id, { only });
  return {
    reviewDisputes: () => reviewDisputes(scope, now),
    reconcile: () => reconcile(scope, now),
    reviewAccounts: () => reviewAccounts(db, settings, now, deleteOnly),
    closeUnclosedCustomers: () => closeUnclosedCustomers(scope, now),
    reviewWithdrawals: () => reviewWithdrawals(db, now),
    rewrapChatKeys: () => rewrapChatKeys(db, settings),
  };
}

function frequentTasks(scope: EnvScope, now: number): Tasks {
  const { db, env, settings } = scope;
  const messages = messageEvents({ db, env, settings });
  const outbox = { db, settings, messages };
  return {
    endTrials: () => endDueTrials(scope, now),
    deliverOutbox: () => deliverOutbox(outbox),
    expireMessages: () => expireMessages(outbox, now),
    sealParkedDeletions: () => sealParkedDeletions(db, settings),
    eraseConversations: () => eraseConversations(env, db, now),
    resumeDeletions: () => resumeDeletions(scope, now),
    settleWithdrawals: () => settleWithdrawals(scope, now),
    mailReceipts: () => mailReceipts({ db, settings }),
    reconcile: () => reconcile(scope, now),
    deleteExpiredRows: () => deleteExpiredRows(db, now),
  };
}

async function endDueTrials({ db, env, settings }: EnvScope, now: number): Promise<void> {
  const users = await endTrials(db, settings, now);
  await Promise.all(users.map((id) => publish(env, id, { kind: 'changed' })));
}
