import { eq, sql, type SQL } from 'drizzle-orm';
import { customers, users } from '#db/schema';
import type { Database } from '../db.ts';
import { tellBot } from '../messaging/outbox.ts';
import { entitledTier, entitledTierSql } from '../usage/entitlement.ts';
import type { User } from '../usage/profile.ts';
import type { Standing } from './derive.ts';
import { held, type Customer, type Leased } from './lease.ts';

type Kept = { user: User; customer: Customer };

/**
 * Writes what holds, tells the bot when the plan has changed, and gives the customer back unless a new reason to look
 * has come meanwhile (`dirty` beyond `synced`): one round trip. Null when the lease had run out.
 */
export async function keepStanding(
  db: Database,
  leased: Leased,
  standing: Standing,
  setupSession: string | null,
): Promise<Kept | null> {
  const { token, customer, user } = leased;
  const now = Date.now();
  const mine = sql`id = ${user.id} and ${held(leased)}`;
  const seen = customer.dirty;
  const tier = entitledTierSql(now);
  const changed = sql`from users where ${mine} and ${tier} <> ${entitledTier(user, now)}`;
  const results = await db.batch([
    db.run(sql`update users set ${assignments(standing)} where ${mine}`),
    db.run(tellBot('plan.changed', now, sql`phone`, sql`'tier', ${tier}`, changed)),
    db.run(sql`update customers set synced = ${seen}, synced_at = ${now}, setup_session = ${setupSession},
      had_subscription = had_subscription or ${standing.hadSubscription ? 1 : 0},
      lease_until = case when dirty > ${seen} then lease_until else 0 end where lease_token = ${token}`),
    db
      .select({ user: users, customer: customers })
      .from(customers)
      .innerJoin(users, eq(users.id, customers.userId))
      .where(eq(customers.leaseToken, token)),
  ]);
  return results[3][0] ?? null;
}

/** Whether nothing changed that the user can see. */
export function sameStanding(before: User, after: User): boolean {
  const visible = (user: User) => JSON.stringify({ ...user, usageSeq: 0, billingWatchUntil: 0, watchedUntil: 0 });
  return visible(before) === visible(after);
}

function assignments(standing: Standing): SQL {
  const trial = standing.endsTrial ? sql`, trial_tier = null, trial_ends_at = null` : sql``;
  return sql`tier = ${standing.tier}, subscription_status = ${standing.status}, renewal_at = ${standing.renewalAt},
    cancel_at = ${standing.cancelAt}, scheduled_tier = ${standing.scheduledTier},
    tier_waits = ${standing.tierWaits ? 1 : 0} ${trial}, usage_seq = usage_seq + 1,
    week_anchor = coalesce(${standing.weekAnchor}, contacted_at, created_at),
    week_frozen = ${standing.weekFrozen ? 1 : 0}`;
}
