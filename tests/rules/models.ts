import * as fc from 'fast-check';
import Libsql from 'libsql';
import type { SQL } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { memoize } from '../../worker/lib/memoize.ts';
import type { Stripe } from 'stripe';
import { planOf, type PaidPlanId } from '../../worker/contract/plans.ts';

/** Unix ms from 2001 to 2100. */
export const instant = fc.integer({ min: 978_307_200_000, max: 4_102_444_800_000 });

const dialect = new SQLiteSyncDialect();

/** An empty database in memory that runs the product's own SQL, parameters bound as the Worker binds them. */
export function openRows(schema: string) {
  const database = new Libsql(':memory:');
  database.exec(schema);
  const prepared = memoize((text: string) => database.prepare(text));
  return {
    exec: (text: string) => void database.exec(text),
    /** The first row of a statement; undefined where it has none. */
    row<Found extends object>(statement: SQL): Found | undefined {
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

/** In seconds, as Stripe counts. */
export const hour = 3600;
export const week = 168 * hour;

export const prices = new Map<string, PaidPlanId | null>([
  ['price_basic', 'basic'],
  ['price_premium', 'premium'],
  ['price_platinum', 'platinum'],
  ['price_unknown', null],
]);

export type Details = { tier?: string; lookupKey?: string; from?: number } & {
  [field in keyof Stripe.Subscription]?: unknown;
};

/** A subscription as Stripe lists it, with a paid week that begins at `from`. */
export function subscription({ tier = 'premium', lookupKey, from = 0, ...details }: Details = {}): Stripe.Subscription {
  const price = { id: `price_${tier}`, metadata: lookupKey ? {} : { tier }, lookup_key: lookupKey ?? null };
  return {
    id: 'sub_1',
    status: 'active',
    created: from,
    cancel_at: null,
    cancel_at_period_end: false,
    ended_at: null,
    trial_end: null,
    schedule: null,
    metadata: {},
    items: { data: [{ price, current_period_start: from, current_period_end: from + week }] },
    ...details,
  } as unknown as Stripe.Subscription;
}

type Invoice = {
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
  tier: PaidPlanId = 'basic';
  period: { start: number; end: number };
  cardWorks = true;
  payments = 0;
  readonly invoices: Invoice[] = [];

  constructor(now: number) {
    this.now = now;
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
      else {
        this.period = { start: this.period.end, end: this.period.end + week };
        this.addInvoice(false);
      }
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
    const invoice: Invoice = { status: 'draft', created: this.now, period, tier: this.tier, proration };
    this.invoices.push(invoice);
    return invoice;
  }

  subscription(): Stripe.Subscription {
    return subscription({
      tier: this.tier,
      from: this.period.start,
      status: this.status,
      latest_invoice: { status: this.latest.status, ...linesOf(this.latest) },
    });
  }

  paidInvoices(): Stripe.Invoice[] {
    const paid = this.invoices.filter(({ status }) => status === 'paid');
    return paid.toReversed().map((invoice) => linesOf(invoice) as unknown as Stripe.Invoice);
  }

  #nextDue(): number {
    const drafts = this.invoices.filter(({ status }) => status === 'draft').map(({ created }) => created + hour);
    return Math.min(this.period.end, ...drafts);
  }
}

function linesOf({ period, tier, proration }: Invoice) {
  const pricing = { price_details: { price: `price_${tier}` } };
  const line = { amount: 1199, period, pricing, parent: { subscription_item_details: { proration } } };
  const credit = { ...line, amount: -600 };
  return { lines: { data: proration ? [credit, line] : [line] } };
}
