import { sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { users } from '#db/schema';
import { planIds, plans, type PlanId } from '../contract/plans.ts';
import { nameOf } from '../lib/insert-select.ts';
import type { Value } from '../lib/prepared-statements.ts';

type Held = { tier: PlanId; tierWaits: boolean; trialTier: PlanId | null; trialEndsAt: number | null };

/** Whether our trial decides the plan: it has not ended, and no running subscription grants a higher plan. */
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
  const [tier, trialTier] = [nameOf(users.tier), nameOf(users.trialTier)];
  const higher = sql`${levelOf(users.trialTier)} > ${levelOf(users.tier)}`;
  const decides = sql`${nameOf(users.trialEndsAt)} > ${now} and (${nameOf(users.tierWaits)} or ${higher})`;
  return sql`(case when ${decides} then ${trialTier} else ${tier} end)`;
}

/** Messages a week; -1 for unlimited, also for a plan without a limit. */
export function weeklyLimit(tier: PlanId): number {
  return plans[tier].messageLimit ?? -1;
}

/** SQL: whether a number of messages in a week is within the limit of a plan. */
export function fitsLimitSql(messages: SQL, tier: SQL): SQL<number> {
  const limited = planIds.filter((id) => weeklyLimit(id) >= 0);
  const cases = limited.map(
    (id) => sql`when ${sql.raw(`'${id}'`)} then ${messages} <= ${sql.raw(String(weeklyLimit(id)))}`,
  );
  return sql`(case ${tier} ${sql.join(cases, sql` `)} else 1 end)`;
}

/** SQL: whether a plan includes voice. */
export function voiceSql(tier: SQL): SQL<number> {
  const withVoice = planIds.filter((id) => plans[id].hasVoice).map((id) => `'${id}'`);
  return sql`(${tier} in (${sql.raw(withVoice.join(', '))}))`;
}

function levelOf(column: SQLiteColumn): SQL {
  const levels = planIds.map((id) => `when '${id}' then ${plans[id].level}`).join(' ');
  return sql`(case ${nameOf(column)} ${sql.raw(levels)} end)`;
}
