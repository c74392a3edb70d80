import { expect, it } from 'vitest';
import { noticeMs, review, type Account } from '../../worker/accounts/account-retention.ts';

const day = 86_400_000;
const retention = 730 * day;
const now = Date.UTC(2030, 0, 1);
const unused: Account = { lastUsedAt: now - retention, paying: false, noticeAt: null, undelivered: false };
const of = (account: Partial<Account>) => review({ ...unused, ...account }, retention, now);

it('keeps an account until 30 days before its retention ends', () => {
  expect(of({ lastUsedAt: now - 10 * day })).toEqual({ kind: 'keep', dueAt: now - 10 * day + retention - noticeMs });
  expect(of({ lastUsedAt: now - retention + noticeMs + 1 })).toMatchObject({ kind: 'keep', dueAt: now + 1 });
});

it('keeps every account with a subscription', () => {
  expect(of({ paying: true, noticeAt: now - noticeMs })).toEqual({ kind: 'keep', dueAt: now + noticeMs });
});

it('notifies the user 30 days before', () => {
  expect(of({})).toEqual({ kind: 'notify', dueAt: now + noticeMs });
  expect(of({ lastUsedAt: now - 2 * retention })).toEqual({ kind: 'notify', dueAt: now + noticeMs });
});

it('deletes 30 days after the notice', () => {
  expect(of({ noticeAt: now - noticeMs })).toEqual({ kind: 'delete' });
  expect(of({ noticeAt: now - noticeMs + 1 })).toMatchObject({ kind: 'keep' });
});

it('deletes nothing while the notice is not delivered', () => {
  expect(of({ noticeAt: now - noticeMs, undelivered: true })).toEqual({ kind: 'keep', dueAt: now + day });
});

it('notifies again when the account was used since the notice', () => {
  const lastUsedAt = now - retention;
  expect(of({ lastUsedAt, noticeAt: lastUsedAt - day })).toMatchObject({ kind: 'notify' });
});
