import { dayMs } from '../lib/time.ts';

/** How long (ms) before the deletion of an unused account the bot notifies its user. */
export const noticeMs = 30 * dayMs;

/** Instants in unix ms; `noticeAt` is null before the user was notified. */
export type Account = { lastUsedAt: number; paying: boolean; noticeAt: number | null; undelivered: boolean };

export type Review = { kind: 'keep'; dueAt: number } | { kind: 'notify'; dueAt: number } | { kind: 'delete' };

/** Decides about an account whose review is due. It is deleted only after a delivered notice. */
export function review(account: Account, retentionMs: number, now: number): Review {
  const { lastUsedAt, paying, noticeAt, undelivered } = account;
  if (paying) return { kind: 'keep', dueAt: now + noticeMs };
  const noticeDueAt = lastUsedAt + retentionMs - noticeMs;
  if (noticeDueAt > now) return { kind: 'keep', dueAt: noticeDueAt };
  if (noticeAt === null || noticeAt <= lastUsedAt) return { kind: 'notify', dueAt: now + noticeMs };
  if (undelivered || noticeAt + noticeMs > now)
    return { kind: 'keep', dueAt: Math.max(noticeAt + noticeMs, now + dayMs) };
  return { kind: 'delete' };
}
