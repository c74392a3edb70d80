import { sql, type SQL } from 'drizzle-orm';
import { planIds, plans, type PlanId } from '../contract/plans.ts';
import type { Value } from '../prepared.ts';

type Held = { tier: PlanId; tierWaits: boolean; trialTier: PlanId | null; trialEndsAt: number | null };

/** Whether a trial of ours decides the plan: it runs, and the subscription waits for its end or grants no more. */
export function onTrial({ tier, tierWaits, trialTier, trialEndsAt }: Held, now: number): boolean {
  if (!trialTier || !trialEndsAt || trialEndsAt <= now) return false;
  return tierWaits || plans[trialTier].level > plans[tier].level;
}

/** The plan whose allowance counts now. */
export function entitledTier(held: Held, now: number): PlanId {
  return onTrial(held, now) ? held.trialTier! : held.tier;
}

/** The same rule as SQL over a row of `users`. */
export function entitledTierSql(now: Value<number>): SQL<PlanId> {
  const decides = sql`trial_ends_at > ${now} and (tier_waits or ${levelOf('trial_tier')} > ${levelOf('tier')})`;
  return sql`(case when ${decides} then trial_tier else tier end)`;
}

/** SQL: the weekly allowance of a plan. */
export function limitSql(tier: SQL): SQL<number> {
  return sql`(case ${tier} ${sql.raw(planIds.map((id) => `when '${id}' then ${plans[id].messageLimit}`).join(' '))} end)`;
}

/** SQL: whether a plan answers by voice. */
export function voiceSql(tier: SQL): SQL<number> {
  const withVoice = planIds.filter((id) => plans[id].hasVoice).map((id) => `'${id}'`);
  return sql`(${tier} in (${sql.raw(withVoice.join(', '))}))`;
}

function levelOf(column: string): SQL {
  return sql.raw(`(case ${column} ${planIds.map((id) => `when '${id}' then ${plans[id].level}`).join(' ')} end)`);
}
