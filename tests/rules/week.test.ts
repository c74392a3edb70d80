import { describe, expect, it } from 'vitest';
import { currentWeek, weekMs, currentWeekSql } from '../../worker/usage/week.ts';
import { sql } from 'drizzle-orm';
import * as fc from 'fast-check';
import { instant, openRows, BillingModel, hour, prices, week } from './models.ts';
import { derive } from '../../worker/billing/derive.ts';
import { isPaidUp, paidWeekOf } from '../../worker/billing/invoices.ts';
import { planOf, plans, type PlanId } from '../../worker/contract/plans.ts';

it('lasts seven days from its anchor, to the millisecond', () => {
  const anchor = Date.UTC(2026, 0, 7, 10, 30);
  const weeks = { weekAnchor: anchor, weekFrozen: false, weekStart: anchor };
  expect(currentWeek(weeks, anchor)).toBe(anchor);
  expect(currentWeek(weeks, anchor + weekMs - 1)).toBe(anchor);
  expect(currentWeek(weeks, anchor + weekMs)).toBe(anchor + weekMs);
});

describe('every week', () => {
  /** Near a boundary of weeks, where rules break. */
  const offset = fc
    .tuple(fc.integer({ min: -60, max: 520 }), fc.constantFrom(-1, 0, 1, weekMs / 2))
    .map(([weeks, off]) => weeks * weekMs + off);
  const weeksAndNow = fc.record({ weekAnchor: instant, weekFrozen: fc.boolean(), weekStart: instant }).chain((weeks) =>
    fc.record({
      weeks: fc.constant(weeks),
      now: fc.oneof(
        instant,
        offset.map((off) => weeks.weekAnchor + off),
      ),
    }),
  );
  const running = weeksAndNow.map(({ weeks, now }) => ({ weeks: { ...weeks, weekFrozen: false }, now }));

  it('contains the current instant, a whole number of weeks after its anchor, unless the anchor is in the future', () => {
    fc.assert(
      fc.property(running, ({ weeks, now }) => {
        const start = currentWeek(weeks, now);
        if (now < weeks.weekAnchor) expect(start).toBe(weeks.weekAnchor);
        else expect(start <= now && now < start + weekMs).toBe(true);
        expect((start - weeks.weekAnchor) % weekMs).toBe(0);
      }),
    );
  });

  it('stands still while it is frozen', () => {
    fc.assert(
      fc.property(weeksAndNow, ({ weeks, now }) => {
        expect(currentWeek({ ...weeks, weekFrozen: true }, now)).toBe(weeks.weekAnchor);
      }),
    );
  });

  it('is the same in the database as in the Worker', () => {
    const rows = openRows('create table users (week_anchor integer, week_frozen integer, week_start integer)');
    fc.assert(
      fc.property(weeksAndNow, ({ weeks, now }) => {
        rows.run(sql`delete from users`);
        rows.run(sql`insert into users values (${weeks.weekAnchor}, ${weeks.weekFrozen ? 1 : 0}, ${weeks.weekStart})`);
        const found = rows.row<{ week: number }>(sql`select ${currentWeekSql(now)} as week from users`);
        expect(found?.week).toBe(currentWeek(weeks, now));
      }),
      { numRuns: 500 },
    );
  });
});

describe('every paid week', () => {
  const begin = Date.UTC(2026, 10, 2) / 1000;

  /** A user as the Worker stores it; its clock differs from Stripe's. */
  class Account {
    readonly model = new BillingModel(begin);
    readonly #skewMs: number;
    row = { weekAnchor: (begin - week / 2) * 1000, weekFrozen: false, weekStart: 0, used: 0, tier: 'free' as PlanId };
    readonly weeksWithMessages = new Set<number>();

    constructor(skewSeconds: number) {
      this.#skewMs = skewSeconds * 1000;
      this.sync();
    }

    get week(): number {
      return currentWeek(this.row, this.model.now * 1000 + this.#skewMs);
    }

    sync(): void {
      const { model } = this;
      const paid = model.status === 'active' && isPaidUp(model.subscription());
      const paidWeeks = new Map(paid ? [] : [['sub_1', paidWeekOf(model.paidInvoices(), prices)]]);
      const known = { trialEndsAt: null, heldTier: this.row.tier, prices, paidWeeks };
      const { tier, weekAnchor, weekFrozen } = derive([model.subscription()], known);
      this.row = { ...this.row, tier, weekFrozen, weekAnchor: weekAnchor ?? (begin - week / 2) * 1000 };
    }

    /** Posts messages until the allowance is spent. */
    spend(): void {
      const used = this.week === this.row.weekStart ? this.row.used : 0;
      const limit = planOf(this.row.tier).messageLimit!;
      if (used >= limit) return;
      this.weeksWithMessages.add(this.week);
      this.row = { ...this.row, weekStart: this.week, used: limit };
    }
  }

  const step = (name: string, run: (account: Account) => void) => ({ name, run });
  /** The cron job fetches a live customer within the hour, whatever becomes of the events. */
  const passing = fc.integer({ min: 1, max: 12 * 24 }).map((hours) =>
    step(`${hours} h`, (account) => {
      for (let passed = 0; passed < hours * 2; passed += 1) {
        account.model.advance(hour / 2);
        account.sync();
      }
    }),
  );
  const deeds = fc.constantFrom(
    step('the card fails', ({ model }) => void (model.cardWorks = false)),
    step('the card works', ({ model }) => void (model.cardWorks = true)),
    step('retry', ({ model }) => model.payOldest()),
    step('pay latest', ({ model }) => model.payLatest()),
    step('to premium', ({ model }) => model.upgrade('premium')),
    step('to platinum', ({ model }) => model.upgrade('platinum')),
    step('spend', (account) => account.spend()),
  );
  const history = fc.array(fc.oneof({ weight: 2, arbitrary: passing }, { weight: 3, arbitrary: deeds }), {
    maxLength: 40,
  });
  /** Stripe's clock is ahead of ours or behind it by up to half an hour. */
  const skew = fc.integer({ min: -hour / 2, max: hour / 2 });

  it('ends with a payment, opens with it, and grants no plan above the one that was paid for', () => {
    fc.assert(
      fc.property(history, skew, (steps, seconds) => {
        const account = new Account(seconds);
        for (const { run } of steps) {
          const before = { payments: account.model.payments, week: account.week };
          run(account);
          account.sync();
          const { row, week: now, model } = account;
          if (model.payments === before.payments) expect(now, 'ends without a payment').toBe(before.week);
          const { start } = paidWeekOf(model.paidInvoices(), prices)!;
          const week = [row.weekFrozen, row.weekAnchor, now];
          expect(week, 'is not that of the last paid invoice').toEqual([true, start, start]);
          const renewal = model.invoices.findLast(({ proration }) => !proration)!;
          if (renewal.status === 'paid') expect(now, 'is paid and not open').toBe(model.period.start * 1000);
          const paid = model.invoices.filter(({ status }) => status === 'paid').map(({ tier }) => plans[tier].level);
          expect(plans[row.tier].level, 'grants an unpaid plan').toBeLessThanOrEqual(Math.max(...paid));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is paid before a message counts in it', () => {
    fc.assert(
      fc.property(history, skew, (steps, seconds) => {
        const account = new Account(seconds);
        for (const { run } of steps) {
          run(account);
          account.sync();
          account.spend();
        }
        const weeks = account.model.invoices.filter(({ proration, status }) => !proration && status === 'paid');
        const paid = weeks.map(({ period }) => period.start * 1000);
        for (const start of account.weeksWithMessages) expect(paid).toContain(start);
      }),
      { numRuns: 300 },
    );
  });
});
