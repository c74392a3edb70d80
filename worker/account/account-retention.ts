import { and, eq, exists, isNotNull, lt, lte, ne, not, or, type SQL } from 'drizzle-orm';
import { outbox, users } from '#db/schema';
import { insertBotEventSql } from '../bot/outbox.ts';
import type { Database } from '../lib/database.ts';
import { coalesce, greatest, inJson, isTrue } from '../lib/expressions.ts';
import { log } from '../lib/log.ts';
import type { Settings } from '../settings.ts';
import { dayMs } from '../lib/time.ts';

const rowsPerStep = 500;
const stepsPerRun = 10;
export const noticeMs = 30 * dayMs;

/** Unix ms; `noticeAt` is null before the notice. */
export type UnusedAccount = {
  lastUsedAt: number;
  paying: boolean;
  noticeAt: number | null;
  undelivered: boolean;
};

export type Review =
  | { kind: 'keep'; dueAt: number }
  | { kind: 'notify'; dueAt: number }
  | { kind: 'delete' };

export function review(account: UnusedAccount, retentionMs: number, now: number): Review {
  const { lastUsedAt, paying, noticeAt, undelivered } = account;
  if (paying) return { kind: 'keep', dueAt: now + noticeMs };

  const noticeDueAt = lastUsedAt + retentionMs - noticeMs;
  if (noticeDueAt > now) return { kind: 'keep', dueAt: noticeDueAt };

  if (noticeAt === null || noticeAt <= lastUsedAt)
    return {
      kind: 'notify',
      dueAt: now + noticeMs,
    };

  if (undelivered || noticeAt + noticeMs > now)
    return { kind: 'keep', dueAt: Math.max(noticeAt + noticeMs, now + dayMs) };
  return { kind: 'delete' };
}

type Due = UnusedAccount & { id: string };
type DeleteAccount = (userId: string, only: SQL) => Promise<boolean>;

/** `week_start` changes with the first counted message of a week, so it tells of use. */
const lastUsedAt = greatest(
  users.createdAt,
  coalesce(users.contactedAt, 0),
  users.lastContactAt,
  users.lastSeenAt,
  users.weekStart,
  coalesce(users.trialEndsAt, 0),
);

const paying = or(
  ne(users.tier, 'free'),
  ne(users.subscriptionStatus, 'active'),
  isNotNull(users.renewalAt),
)!;

export async function reviewAccounts(
  db: Database,
  settings: Settings,
  now: number,
  deleteAccount: DeleteAccount,
) {
  // Without the bot no user can be notified.
  if (!settings.require('BOT_WEBHOOK_URL')) return;
  for (let step = 0; step < stepsPerRun; step += 1) {
    const due = await readDue(db, now);
    for (const account of due) await apply(account);
    if (due.length < rowsPerStep) return;
  }

  async function apply(account: Due): Promise<void> {
    const next = review(account, settings.require('ACCOUNT_RETENTION_DAYS') * dayMs, now);
    const own = and(eq(users.id, account.id), lte(users.retentionDueAt, now))!;
    if (next.kind === 'keep') await db.update(users).set({ retentionDueAt: next.dueAt }).where(own);
    else if (next.kind === 'notify')
      await notify(db, settings, unused(account, own), next.dueAt, now);
    else await remove(account, own);
  }

  /** Somebody may use the account after it was read. */
  function unused(account: Due, own: SQL): SQL {
    return and(own, eq(lastUsedAt, account.lastUsedAt), not(paying))!;
  }

  async function remove({ id, noticeAt }: Due, own: SQL): Promise<void> {
    // A failed deletion is retried after a day.
    await db
      .update(users)
      .set({ retentionDueAt: now + dayMs })
      .where(own);
    try {
      const only = and(lt(lastUsedAt, noticeAt), not(paying))!;
      if (await deleteAccount(id, only)) log('info', 'unused_account_deleted', {});
    } catch {
      log('error', 'unused_account_kept', {});
    }
  }
}

async function readDue(db: Database, now: number): Promise<Due[]> {
  const isNotice = and(
    eq(outbox.userId, users.id),
    eq(inJson(outbox.body, '$.type'), 'user.unused'),
  );
  const notices = db.select({ seq: outbox.seq }).from(outbox).where(isNotice);

  const rows = await db
    .select({
      id: users.id,
      lastUsedAt,
      paying: isTrue(paying),
      noticeAt: users.retentionNoticeAt,
      undelivered: isTrue(exists(notices)),
    })
    .from(users)
    .where(lte(users.retentionDueAt, now))
    .orderBy(users.retentionDueAt)
    .limit(rowsPerStep);

  return rows.map((row) => ({
    ...row,
    paying: row.paying === 1,
    undelivered: row.undelivered === 1,
  }));
}

async function notify(
  db: Database,
  settings: Settings,
  own: SQL,
  deletesAt: number,
  now: number,
): Promise<void> {
  const data = {
    userId: users.id,
    deletesAt: new Date(deletesAt).toISOString(),
  };
  await db.batch([
    db.run(
      insertBotEventSql({
        settings,
        type: 'user.unused',
        now,
        who: own,
        data,
      }),
    ),
    db
      .update(users)
      .set({
        retentionNoticeAt: now,
        retentionDueAt: deletesAt,
      })
      .where(own),
  ]);
}
