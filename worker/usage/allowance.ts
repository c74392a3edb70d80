import { and, gt, inArray, or, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { users } from '#db/schema';
import { planIds, plans, type PlanId } from '../contract/plans.ts';
import type { Usage } from '../contract/schemas.ts';
import { iif } from '../lib/expressions.ts';
import type { Value } from '../lib/sql.ts';
import { sql } from '../lib/sql-text.ts';

type Held = {
  tier: PlanId;
  tierWaits: boolean;
  trialTier: PlanId | null;
  trialEndsAt: number | null;
};

/**
 * Whether our trial decides the plan: it has not ended,
 * and no running subscription grants a higher plan.
 */
export function onTrial({ tier, tierWaits, trialTier, trialEndsAt }: Held, now: number): boolean {
  if (!trialTier || !trialEndsAt || trialEndsAt <= now) return false;
  return tierWaits || plans[trialTier].level > plans[tier].level;
}

/**
 * The plan that is granted. One that waits for the
 * end of our trial is granted once it is paid.
 */
export function entitledTier(held: Held, now: number): PlanId {
  if (onTrial(held, now)) return held.trialTier!;
  return held.tierWaits ? 'free' : held.tier;
}

/** The same rule as SQL over a row of `users`. */
export function entitledTierSql(now: Value<number>): SQL<PlanId> {
  const isOnTrial = and(gt(users.trialEndsAt, now), mayBeOnTrial);
  return iif(isOnTrial, users.trialTier, withoutTrial);
}

const isHigher = gt(levelSql(users.trialTier), levelSql(users.tier));
const mayBeOnTrial = or(users.tierWaits, isHigher);
const withoutTrial = iif(users.tierWaits, 'free', users.tier);

/** Messages a week; -1 for unlimited, also for a plan without a limit. */
export function weeklyAllowance(tier: PlanId): number {
  return plans[tier].messageLimit ?? -1;
}

export function fitsAllowanceSql(messages: SQLWrapper, tier: SQLWrapper): SQL<number> {
  const limited = planIds.filter((id) => weeklyAllowance(id) >= 0);
  const cases = limited.map((id) => `when '${id}' then ${weeklyAllowance(id)}`).join(' ');
  return sql`(${messages} <= (case ${tier} ${sql.raw(cases)} else ${messages} end))`;
}

export function voiceSql(tier: SQLWrapper): SQL {
  const withVoice = planIds.filter((id) => plans[id].hasVoice);
  return inArray(tier as SQL, withVoice);
}

function levelSql(column: SQLiteColumn): SQL {
  const levels = planIds.map((id) => `when '${id}' then ${plans[id].level}`).join(' ');
  return sql`(case ${column} ${sql.raw(levels)} end)`;
}

export function usageResponse(facts: {
  allowed: boolean;
  used: number;
  tier: Usage['tier'];
  resetsAt: number;
}): Usage {
  const limit = weeklyAllowance(facts.tier);
  return {
    success: true,
    allowed: facts.allowed,
    used: facts.used,
    limit,
    remaining: limit < 0 ? -1 : Math.max(0, limit - facts.used),
    voice: plans[facts.tier].hasVoice === true,
    tier: facts.tier,
    resetsAt: new Date(facts.resetsAt).toISOString(),
  };
}
