import * as fc from 'fast-check';
import Libsql from 'libsql';
import { is, SQL, type Query } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { memoize } from '../../worker/lib/memoize.ts';
import type { Stripe } from 'stripe';
import type { PaidPlanId } from '../../worker/contract/plans.ts';

/** Unix ms from 2001 to 2100. */
export const instant = fc.integer({
  min: 978_307_200_000,
  max: 4_102_444_800_000,
});

const dialect = new SQLiteSyncDialect();

/** An empty database in memory that runs the product's own SQL, parameters bound as the Worker binds them. */
export function openRows(schema: string) {
  const database = new Libsql(':memory:');
  database.exec(schema);
  const prepared = memoize((text: string) => database.prepare(text));
  return {
    exec: (text: string) => void database.exec(text),
    /** The first row of a statement; undefined where it has none. */
    row<Found extends object>(statement: SQL | Query): Found | undefined {
      const { sql, params } = is(statement, SQL) ? dialect.sqlToQuery(statement) : statement;
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

export type Details = {
  tier?: string;
  lookupKey?: string;
  from?: number;
} & {
  [field in keyof Stripe.Subscription]?: unknown;
};

/** A subscription as Stripe lists it, with a paid week that begins at `from`. */
export function subscription({
  tier = 'premium',
  lookupKey,
  from = 0,
  ...details
}: Details = {}): Stripe.Subscription {
  const price = {
    id: `price_${tier}`,
    metadata: lookupKey ? {} : { tier },
    lookup_key: lookupKey ?? null,
  };
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
    items: {
      data: [
        {
          price,
          current_period_start: from,
          current_period_end: from + week,
        },
      ],
    },
    ...details,
  } as unknown as Stripe.Subscription;
}
