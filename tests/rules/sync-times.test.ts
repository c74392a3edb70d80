import { sql } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import {
  customersPerRun,
  dueAfter,
  dueCustomersSql,
  pauseAfter,
} from '../../worker/billing/sync-times.ts';
import { openRows } from './models.ts';
import { noticeMs, review, type UnusedAccount } from '../../worker/account/account-retention.ts';

describe('the customers that are due', () => {
  const minute = 60_000;
  const day = 24 * 60 * minute;
  const begin = Date.UTC(2026, 10, 2);
  const schema = `create table customers (user_id integer primary key, due_at integer, lease_until integer default 0,
  failures integer default 0, fetched_at integer, fails integer);
  create index customers_due on customers (due_at);
  create table run (user_id integer primary key);`;

  /** When a live customer is due after it was fetched. */
  const dueAt = (now: number, more: Partial<Parameters<typeof dueAfter>[0]> = {}) => {
    const user = { billingWatchUntil: null };
    return dueAfter(
      {
        live: true,
        user,
        setupSession: null,
        renewalAt: null,
        awaitsPayment: false,
        ...more,
      },
      now,
    );
  };

  it('are fetched when their week ends, and each minute until the next one is paid', () => {
    expect(dueAt(begin, { renewalAt: begin + 5 * minute })).toBe(begin + 5 * minute);
    expect(dueAt(begin, { renewalAt: begin - 5 * minute })).toBeLessThan(begin + minute);
    expect(
      dueAt(begin, {
        renewalAt: begin + 7 * day,
        awaitsPayment: true,
      }),
    ).toBeLessThan(begin + minute);
    expect(dueAt(begin, { renewalAt: begin + 7 * day })).toBe(begin + 50 * minute);
    expect(dueAt(begin, { renewalAt: begin - 2 * day })).toBe(begin + 50 * minute);
  });

  /** Live customers that were all fetched a day ago and are all due; the first ones fail whenever they are fetched. */
  function customers(count: number, failing: number) {
    const rows = openRows(schema);
    rows.exec(`with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1})
    insert into customers (user_id, due_at, fetched_at, fails) select i, ${begin - day} + i, ${begin}, i < ${failing} from n`);
    return rows;
  }

  /** One run of the cron job, by the product's own statement and pauses. */
  function runCronJob(
    rows: ReturnType<typeof openRows>,
    now: number,
    most = customersPerRun,
  ): void {
    rows.run(sql`delete from run`);
    rows.run(sql`insert into run ${dueCustomersSql(now, most)}`);
    const due = sql`user_id in (select user_id from run)`;
    const next = dueAt(now);
    rows.run(
      sql`update customers set failures = failures + 1, due_at = -1 - failures where fails and ${due}`,
    );
    rows.run(
      sql`update customers set due_at = ${next}, fetched_at = ${now} where ${due} and not fails`,
    );
    const { fails } = rows.row<{ fails: number }>(
      sql`select -min(0, min(due_at)) as fails from customers`,
    )!;
    for (let failures = 1; failures <= fails; failures += 1)
      rows.run(
        sql`update customers set due_at = ${now + pauseAfter(failures)} where due_at = ${-failures}`,
      );
  }

  it('fetches every one of 500,000 customers within a day, though 5,000 always fail', () => {
    // A tenth of them, and of those that a run fetches.
    const [rows, most] = [customers(50_000, 500), customersPerRun / 10];
    for (let now = begin; now < begin + day; now += minute) runCronJob(rows, now, most);
    const oldest = () =>
      rows.row<{ at: number }>(sql`select min(fetched_at) as at from customers where not fails`)!
        .at;
    const firstDay = oldest();
    for (let now = begin + day; now < begin + 2 * day; now += minute) runCronJob(rows, now, most);
    expect(firstDay).toBeGreaterThan(begin);
    expect(begin + 2 * day - oldest()).toBeLessThan(day);
  });

  it('fetches one customer within three runs, though a thousand that always fail are due before it', () => {
    const rows = customers(1001, 1000);
    for (let run = 0; run < 3; run += 1) runCronJob(rows, begin + run * minute);
    expect(rows.row(sql`select fetched_at as at from customers where user_id = 1000`)).toEqual({
      at: begin + 2 * minute,
    });
  });

  it('fetches failing customers less and less often', () => {
    const pauses = Array.from({ length: 30 }, (_, failures) => pauseAfter(failures));
    expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
    expect([pauses[2], pauses[3], pauses[6], pauses[29]]).toEqual([1, minute, 8 * minute, day / 4]);
  });
});

describe('the retention of an account', () => {
  const day = 86_400_000;
  const retention = 730 * day;
  const now = Date.UTC(2030, 0, 1);
  const unused: UnusedAccount = {
    lastUsedAt: now - retention,
    paying: false,
    noticeAt: null,
    undelivered: false,
  };

  const noticed = now - noticeMs;

  it.each<[what: string, account: Partial<UnusedAccount>, kind: string, dueAt?: number]>([
    [
      'keeps an account until 30 days before its end',
      { lastUsedAt: now - 10 * day },
      'keep',
      now + 690 * day,
    ],
    [
      'keeps it for a last millisecond',
      { lastUsedAt: now - retention + noticeMs + 1 },
      'keep',
      now + 1,
    ],
    ['keeps one that pays', { paying: true, noticeAt: noticed }, 'keep', now + noticeMs],
    ['notifies its user 30 days before', {}, 'notify', now + noticeMs],
    ['notifies late, too', { lastUsedAt: now - 2 * retention }, 'notify', now + noticeMs],
    ['notifies again after a use', { noticeAt: now - retention - day }, 'notify'],
    ['deletes it 30 days after the notice', { noticeAt: noticed }, 'delete'],
    ['deletes it no millisecond earlier', { noticeAt: noticed + 1 }, 'keep'],
    [
      'deletes none while the notice waits',
      { noticeAt: noticed, undelivered: true },
      'keep',
      now + day,
    ],
  ])('of 730 days %s', (_, account, kind, dueAt) => {
    expect(review({ ...unused, ...account }, retention, now)).toMatchObject({
      kind,
      ...(dueAt && { dueAt }),
    });
  });
});
