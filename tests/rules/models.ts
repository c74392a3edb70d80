import * as fc from 'fast-check';
import Libsql from 'libsql';
import type { SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { memoize } from '../../worker/lib/memoize.ts';
import type { Stripe } from 'stripe';
import { planOf, type PaidPlanId } from '../../worker/contract/plans.ts';

/** Unix ms from 2001 to 2100. */
export const instant = fc.integer({ min: 978_307_200_000, max: 4_102_444_800_000 });

/** Unix ms near a boundary of `unit`, where rules break. */
export function nearMultiple(base: number, unit: number) {
  return fc
    .tuple(fc.integer({ min: -60, max: 520 }), fc.constantFrom(-1, 0, 1, Math.floor(unit / 2)))
    .map(([times, off]) => base + times * unit + off);
}

const dialect = new SQLiteSyncDialect();

type Row = Record<string, unknown>;

/** An empty database in memory that runs the product's own SQL, parameters bound as the Worker binds them. */
export function openRows(schema: string) {
  const database = new Libsql(':memory:');
  database.exec(schema);
  const prepared = memoize((text: string) => database.prepare(text));
  return {
    exec: (text: string) => void database.exec(text),
    /** The first row of a statement; undefined where it has none. */
    row<Found extends Row>(statement: SQL): Found | undefined {
      const { sql, params } = dialect.sqlToQuery(statement);
      const found = prepared(sql).get(...params) as (Found & { _metadata?: unknown }) | undefined;
      delete found?._metadata;
      return found;
    },
    run(statement: SQL): void {
      const { sql, params } = dialect.sqlToQuery(statement);
      prepared(sql).run(...params);
    },
  };
}

export const hour = 3600;
export const week = 168 * hour;

type Invoice = {
  id: string;
  status: 'draft' | 'open' | 'paid';
  created: number;
  period: { start: number; end: number };
  tier: PaidPlanId;
  proration: boolean;
};

/** One subscription as Stripe runs it: draft hour, charges, retries and prorations. Instants in unix seconds. */
export class BillingModel {
  now: number;
  status: 'active' | 'past_due' = 'active';
  tier: PaidPlanId;
  period: { start: number; end: number };
  cardWorks = true;
  payments = 0;
  readonly invoices: Invoice[] = [];

  constructor(now: number, tier: PaidPlanId) {
    this.now = now;
    this.tier = tier;
    this.period = { start: now, end: now + week };
    this.charge(this.addInvoice(false));
  }

  get latest(): Invoice {
    return this.invoices.at(-1)!;
  }

  /** Advances the time: a renewal creates a draft, which is charged an hour later. */
  advance(seconds: number): void {
    const target = this.now + seconds;
    for (let next = this.#nextDue(); next <= target; next = this.#nextDue()) {
      this.now = next;
      const draft = this.invoices.find(({ status, created }) => status === 'draft' && created + hour <= next);
      if (draft) this.charge(draft);
      else this.#renew();
    }
    this.now = target;
  }

  /** An upgrade takes effect whether its proration is paid or not. */
  upgrade(tier: PaidPlanId): void {
    if (planOf(tier).level <= planOf(this.tier).level) return;
    this.tier = tier;
    this.charge(this.addInvoice(true));
  }

  /** A retry, or a payment on the invoice's page. */
  payOldest(): void {
    const open = this.invoices.find(({ status }) => status === 'open');
    if (open) this.charge(open);
  }

  payLatest(): void {
    if (this.latest.status === 'open') this.charge(this.latest);
  }

  charge(invoice: Invoice): void {
    invoice.status = this.cardWorks ? 'paid' : 'open';
    if (this.cardWorks) this.payments += 1;
    if (invoice === this.latest) this.status = this.cardWorks ? 'active' : 'past_due';
  }

  addInvoice(proration: boolean): Invoice {
    const { start, end } = this.period;
    const period = { start: proration ? this.now : start, end };
    const id = `in_${this.invoices.length}`;
    const invoice: Invoice = { id, status: 'draft', created: this.now, period, tier: this.tier, proration };
    this.invoices.push(invoice);
    return invoice;
  }

  subscription(): Stripe.Subscription {
    const { start, end } = this.period;
    const price = { id: `price_${this.tier}`, metadata: { tier: this.tier }, lookup_key: null };
    return {
      id: 'sub_1',
      status: this.status,
      created: this.invoices[0]!.created,
      cancel_at: null,
      cancel_at_period_end: false,
      ended_at: null,
      trial_end: null,
      schedule: null,
      metadata: {},
      items: { data: [{ price, current_period_start: start, current_period_end: end }] },
      latest_invoice: { status: this.latest.status, ...linesOf(this.latest) },
    } as unknown as Stripe.Subscription;
  }

  paidInvoices(): Stripe.Invoice[] {
    const paid = this.invoices.filter(({ status }) => status === 'paid');
    return paid.toReversed().map((invoice) => linesOf(invoice) as unknown as Stripe.Invoice);
  }

  #nextDue(): number {
    const drafts = this.invoices.filter(({ status }) => status === 'draft').map(({ created }) => created + hour);
    return Math.min(this.period.end, ...drafts);
  }

  #renew(): void {
    this.period = { start: this.period.end, end: this.period.end + week };
    this.addInvoice(false);
  }
}

function linesOf({ period, tier, proration }: Invoice) {
  const pricing = { price_details: { price: `price_${tier}` } };
  const line = { amount: 1199, period, pricing, parent: { subscription_item_details: { proration } } };
  const credit = { ...line, amount: -600 };
  return { lines: { data: proration ? [credit, line] : [line] } };
}
