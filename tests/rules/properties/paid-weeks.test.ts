import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { derive } from '../../../worker/billing/derive.ts';
import { paidWeekOf } from '../../../worker/billing/invoices.ts';
import { planOf, plans, type PaidPlanId, type PlanId } from '../../../worker/contract/plans.ts';
import { currentWeek } from '../../../worker/usage/week.ts';
import { BillingModel, hour, week } from './billing-model.ts';

const begin = Date.UTC(2026, 10, 2) / 1000;
const prices = new Map<string, PaidPlanId | null>([
  ['price_basic', 'basic'],
  ['price_premium', 'premium'],
  ['price_platinum', 'platinum'],
]);

/** A user as the Worker stores it; its clock differs from Stripe's. */
class Account {
  readonly model: BillingModel;
  readonly #skewMs: number;
  row = { weekAnchor: (begin - week / 2) * 1000, weekFrozen: false, weekStart: 0, used: 0, tier: 'free' as PlanId };
  /** Messages by the start of the week they counted in. */
  readonly posted = new Map<number, number>();

  constructor(tier: PaidPlanId, skewSeconds: number) {
    this.model = new BillingModel(begin, tier);
    this.#skewMs = skewSeconds * 1000;
    this.sync();
  }

  get now(): number {
    return this.model.now * 1000 + this.#skewMs;
  }

  get week(): number {
    return currentWeek(this.row, this.now);
  }

  sync(): void {
    const { model } = this;
    const paidWeeks = new Map(model.status === 'past_due' ? [['sub_1', paidWeekOf(model.paidInvoices(), prices)]] : []);
    const known = { trialEndsAt: null, heldTier: this.row.tier, prices, paidWeeks };
    const { tier, weekAnchor, weekFrozen } = derive([model.subscription()], known);
    this.row = { ...this.row, tier, weekFrozen, weekAnchor: weekAnchor ?? (begin - week / 2) * 1000 };
  }

  /** Posts messages until the allowance is spent. */
  spend(): void {
    const used = this.week === this.row.weekStart ? this.row.used : 0;
    const limit = planOf(this.row.tier).messageLimit!;
    const posted = Math.max(0, limit - used);
    if (posted === 0) return;
    this.posted.set(this.week, (this.posted.get(this.week) ?? 0) + posted);
    this.row = { ...this.row, weekStart: this.week, used: used + posted };
  }
}

type Step = { name: string; run: (account: Account) => void };

const step = (name: string, run: Step['run']): Step => ({ name, run });
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

const everyHistory = (check: (account: Account, before: Account['row'] & { payments: number; week: number }) => void) =>
  fc.assert(
    fc.property(history, skew, (steps, seconds) => {
      const account = new Account('basic', seconds);
      for (const { run } of steps) {
        const before = { ...account.row, payments: account.model.payments, week: account.week };
        run(account);
        account.sync();
        check(account, before);
      }
    }),
    { numRuns: 300 },
  );

it('opens no week while a payment is past due, however many renewals pass', () => {
  everyHistory(({ row, week: now, model }, before) => {
    const unpaid = before.weekFrozen && row.weekFrozen && model.payments === before.payments;
    if (unpaid) expect(now).toBe(before.week);
  });
});

it('counts the week of the last paid invoice while a payment is past due, unless the next one was used already', () => {
  everyHistory(({ row, week: now, model }) => {
    if (!row.weekFrozen) return;
    const paid = paidWeekOf(model.paidInvoices(), prices)!;
    expect(row.weekAnchor).toBe(paid.start);
    expect(now).toBe(Math.max(paid.start, row.weekStart));
  });
});

it('opens the present week as soon as its invoice is paid', () => {
  everyHistory(({ row, model, week: now }) => {
    if (model.status !== 'active') return;
    expect(row.weekFrozen).toBe(false);
    expect([model.period.start * 1000, model.period.end * 1000]).toContain(now);
  });
});

it('grants no plan above the one that was paid for while a payment is past due', () => {
  everyHistory(({ row, model }) => {
    if (!row.weekFrozen) return;
    const paid = model.invoices.filter(({ status }) => status === 'paid').map(({ tier }) => plans[tier].level);
    expect(plans[row.tier].level).toBeLessThanOrEqual(Math.max(...paid));
  });
});

it('lets at most one unpaid week be used between two payments of whole weeks: the one that a draft opened', () => {
  fc.assert(
    fc.property(history, skew, (steps, seconds) => {
      const account = new Account('basic', seconds);
      for (const { run } of steps) {
        run(account);
        account.sync();
        account.spend();
      }
      const { invoices } = account.model;
      const weeks = invoices.filter(({ proration }) => !proration);
      const isUnpaid = (start: number) =>
        weeks.some(({ status, period }) => period.start * 1000 === start && status !== 'paid');
      const used = [...account.posted.keys()].toSorted((a, b) => a - b).filter((start) => start >= begin * 1000);
      for (const [index, start] of used.entries()) {
        const next = used[index + 1];
        // Two unpaid weeks in a row need a payment between them.
        if (next !== undefined && isUnpaid(start) && isUnpaid(next))
          expect(
            invoices.some(
              ({ status, created }) => status === 'paid' && created * 1000 > start && created * 1000 < next,
            ),
          ).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});
