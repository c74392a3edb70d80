import { reviewDisputes } from './billing/disputes.ts';
import { reconcile } from './billing/sync.ts';
import { openDatabase, type Traffic } from './lib/database.ts';
import type { Env } from './env.ts';
import { eraseConversations } from './chat/clear-conversation.ts';
import { messageEvents } from './chat/message-delivery.ts';
import { rewrapChatKeys } from './chat/rewrap-chat-keys.ts';
import { deliverOutbox, expireMessages } from './bot/deliver-outbox.ts';
import { sealParkedDeletions } from './bot/parked-deletions.ts';
import { settingsOf, type Settings } from './settings.ts';
import { deleteExpiredRows } from './account/delete-expired.ts';
import { describeError, inBackground, log } from './lib/log.ts';
import { mailReceipts } from './withdrawal/send-receipt-mails.ts';
import { reviewWithdrawals, settleWithdrawals } from './withdrawal/settlement.ts';
import { endTrials } from './trials/trials.ts';
import { publish } from './live/publish.ts';
import { closeLeftCustomers, deleteAccount, resumeDeletions } from './account/account-deletion.ts';
import { reviewAccounts } from './account/account-retention.ts';

const hourly = '0 * * * *';
const stripeTasks = new Set([
  'reviewDisputes',
  'reconcile',
  'reviewAccounts',
  'closeLeftCustomers',
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
  const billing = {
    db,
    env,
    settings,
    waitUntil: (work: Promise<unknown>) => ctx.waitUntil(inBackground(work, null)),
  };
  const outbox = {
    db,
    settings,
    messages: messageEvents({ db, env, settings }),
  };
  const now = Date.now();
  const tasks: Record<string, () => Promise<unknown>> =
    cron === hourly
      ? {
          reviewDisputes: () => reviewDisputes(billing, now),
          reconcile: () => reconcile(billing, now),
          reviewAccounts: () =>
            reviewAccounts(db, settings, now, (id, only) => deleteAccount(billing, id, { only })),
          closeLeftCustomers: () => closeLeftCustomers(billing, now),
          reviewWithdrawals: () => reviewWithdrawals(db, now),
          rewrapChatKeys: () => rewrapChatKeys(db, settings),
        }
      : {
          endTrials: () => endDueTrials(settings),
          deliverOutbox: () => deliverOutbox(outbox),
          expireMessages: () => expireMessages(outbox, now),
          sealParkedDeletions: () => sealParkedDeletions(db, settings),
          eraseConversations: () => eraseConversations(env, db, now),
          resumeDeletions: () => resumeDeletions(billing, now),
          settleWithdrawals: () => settleWithdrawals(billing, now),
          mailReceipts: () => mailReceipts({ db, settings }),
          reconcile: () => reconcile(billing, now),
          deleteExpiredRows: () => deleteExpiredRows(db, now),
        };
  const withoutStripe = !settings.isRight('STRIPE_API_BASE', 'STRIPE_SECRET_KEY');
  for (const [task, run] of Object.entries(tasks)) {
    if (withoutStripe && stripeTasks.has(task)) continue;
    await run().catch((error: unknown) =>
      log('error', 'task_failed', { task, ...describeError(error) }),
    );
  }

  async function endDueTrials(settings: Settings): Promise<void> {
    const users = await endTrials(db, settings, now);
    await Promise.all(users.map((id) => publish(env, id, { kind: 'changed' })));
  }
}
