import { and, eq, isNull, sql } from 'drizzle-orm';
import { customers, users, type User } from '#db/schema';
import { insertBotEvent } from '../bot/outbox.ts';
import type { Database } from '../lib/database.ts';
import type { Settings } from '../settings.ts';
import { entitledTier, entitledTierSql } from '../usage/allowance.ts';
import { dueAfter } from './due.ts';
import type { SubscriptionState } from './derive.ts';
import type { FetchedState } from './fetch-state.ts';
import { customersWhere, type Customer, type LeasedCustomer } from './leased-customer.ts';
import { held } from './release-lease.ts';

type Saved = { user: User; customer: Customer };

/**
 * Saves the state with the bot's event about a new plan, and releases the lease unless an event arrived meanwhile
 * (`dirty`): one round trip. Returns null if the lease was lost.
 */
export async function saveState(
  db: Database,
  settings: Settings,
  leased: LeasedCustomer,
  fetched: FetchedState,
): Promise<Saved | null> {
  const { customer, user } = leased;
  const { state, setupSession, offSaleTier } = fetched;
  const now = Date.now();
  const columns = columnsOf(state, user);
  const unchanged = Object.entries(columns).every(([name, value]) => user[name as keyof User] === value);
  const mine = and(eq(users.id, user.id), held(leased))!;
  const tier = entitledTierSql(now);
  const newPlan = sql`from ${users} where ${mine} and ${tier} <> ${entitledTier(user, now)}`;
  const offSale = sql`from ${users} where ${mine} and ${offSaleTier} is not null`;
  // The bot informs the user that the plan chosen for the trial's end is no longer on sale.
  const offSaleData = sql`'tier', ${tier}, 'offSaleTier', ${offSaleTier}`;
  const eventArrived = sql`${customers.dirty} > ${customer.dirty}`;
  const dueAt = dueAfter({ live: state.live, user, setupSession }, now);
  const results = await db.batch([
    db
      .update(users)
      .set({ ...columns, usageSeq: sql`${users.usageSeq} + 1` })
      .where(unchanged ? and(mine, isNull(users.id)) : mine),
    db.run(insertBotEvent(settings, 'plan.changed', now, sql`phone`, sql`'tier', ${tier}`, newPlan)),
    db.run(insertBotEvent(settings, 'plan.changed', now, sql`phone`, offSaleData, offSale)),
    db
      .update(customers)
      .set({
        synced: customer.dirty,
        syncedAt: now,
        failures: 0,
        setupSession,
        hadSubscription: customer.hadSubscription || state.hadSubscription,
        dueAt: sql`case when ${eventArrived} then ${now} else ${dueAt} end`,
        leaseUntil: sql`case when ${eventArrived} then ${customers.leaseUntil} else 0 end`,
      })
      .where(eq(customers.leaseToken, leased.token)),
    customersWhere(db, eq(customers.leaseToken, leased.token)),
  ]);
  return results[4][0] ?? null;
}

/** Whether the user sees no change. */
export function sameForUser(before: User, after: User): boolean {
  const visible = (user: User) => JSON.stringify({ ...user, usageSeq: 0, billingWatchUntil: 0, watchedUntil: 0 });
  return visible(before) === visible(after);
}

function columnsOf(state: SubscriptionState, user: User) {
  return {
    tier: state.tier,
    subscriptionStatus: state.status,
    renewalAt: state.renewalAt,
    cancelAt: state.cancelAt,
    scheduledTier: state.scheduledTier,
    tierWaits: state.tierWaits,
    weekAnchor: state.weekAnchor ?? user.contactedAt ?? user.createdAt,
    weekFrozen: state.weekFrozen,
    ...(state.endsTrial && { trialTier: null, trialEndsAt: null }),
  };
}
