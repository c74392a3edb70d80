import { dayMs } from '../platform/time.ts';

/** How long (ms) before its deletion the user of an unused account is told. */
export const noticeMs = 30 * dayMs;

/** Instants in unix ms; `noticeAt` is null when nobody was told. */
export type Account = { lastUsedAt: number; paying: boolean; noticeAt: number | null; undelivered: boolean };

export type Review = { kind: 'keep'; dueAt: number } | { kind: 'notify'; dueAt: number } | { kind: 'delete' };

/** What becomes of an account whose review is due. It is deleted only after a notice that was delivered. */
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
