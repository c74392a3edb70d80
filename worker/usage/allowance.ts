import { sql, type SQL, and } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { users } from '#db/schema';
import { planIds, plans, type PlanId } from '../contract/plans.ts';
import { build, type Value } from '../lib/sql.ts';
import type { Tier, Usage } from '../contract/schemas.ts';
import { currentWeekSql, usedSql, weekMs } from './week.ts';

type Held = {
  tier: PlanId;
  tierWaits: boolean;
  trialTier: PlanId | null;
  trialEndsAt: number | null;
};

/**
 * Whether our trial decides the plan: it has not ended, and no running subscription
 * grants a higher plan.
 */
export function onTrial({ tier, tierWaits, trialTier, trialEndsAt }: Held, now: number): boolean {
  if (!trialTier || !trialEndsAt || trialEndsAt <= now) return false;
  return tierWaits || plans[trialTier].level > plans[tier].level;
}

/**
 * The plan that is granted. One that waits for the end of our trial is granted once it
 * is paid.
 */
export function entitledTier(held: Held, now: number): PlanId {
  if (onTrial(held, now)) return held.trialTier!;
  return held.tierWaits ? 'free' : held.tier;
}

/** The same rule as SQL over a row of `users`. */
export function entitledTierSql(now: Value<number>): SQL<PlanId> {
  const isHigher = sql`${levelSql(users.trialTier)} > ${levelSql(users.tier)}`;
  const isOnTrial = sql`${users.trialEndsAt} > ${now} and (${users.tierWaits} or ${isHigher})`;
  return sql`(case
    when ${isOnTrial} then ${users.trialTier}
    when ${users.tierWaits} then 'free'
    else ${users.tier} end)`;
}

/** Messages a week; -1 for unlimited, also for a plan without a limit. */
export function weeklyLimit(tier: PlanId): number {
  return plans[tier].messageLimit ?? -1;
}

/** SQL: whether a number of messages in a week is within the limit of a plan. */
export function fitsLimitSql(messages: SQL, tier: SQL): SQL<number> {
  const limited = planIds.filter((id) => weeklyLimit(id) >= 0);
  const cases = limited.map((id) => {
    const [name, limit] = [sql.raw(`'${id}'`), sql.raw(String(weeklyLimit(id)))];
    return sql`when ${name} then ${messages} <= ${limit}`;
  });
  return sql`(case ${tier} ${sql.join(cases, sql` `)} else 1 end)`;
}

export function voiceSql(tier: SQL): SQL<number> {
  const withVoice = planIds.filter((id) => plans[id].hasVoice).map((id) => `'${id}'`);
  return sql`(${tier} in (${sql.raw(withVoice.join(', '))}))`;
}

function levelSql(column: SQLiteColumn): SQL {
  const levels = planIds.map((id) => `when '${id}' then ${plans[id].level}`).join(' ');
  return sql`(case ${column} ${sql.raw(levels)} end)`;
}

const [count, now] = [sql.placeholder('count'), sql.placeholder('now')];

/**
 * The facts of a usage post about somebody who has no account. `at` (unix ms) is the
 * time of the first call.
 */
type Stranger = { at: number };

export type Counted = {
  at: number;
  userId: string;
  allowed: number;
  used: number;
  seq: number;
  tier: Tier;
  weekStart: number;
  frozen: number;
  /** Whether a stream of the user may be open. */
  watched: number;
};

/**
 * The facts of a usage post, stored with the call, so that a replay gets the same
 * response.
 */
export type Found = Counted | Stranger;

/**
 * SQL for one row with the JSON of `Found` about the user of `own`, also if there is
 * none.
 */
export function allowanceSql(kind: 'text' | 'voice', own: SQL): SQL {
  const hasVoice = kind === 'voice' ? voiceSql(sql`tier`) : sql`true`;
  const fits = fitsLimitSql(sql`used + ${count}`, sql`tier`);
  return sql`
    with person as (
      select ${users.id} as userId,
        ${users.status} = 'approved' and ${users.contactedAt} is not null as mayWrite,
        ${users.usageSeq} as seq,
        ${users.weekFrozen} as frozen,
        ${users.streamsOpenUntil} > ${now} as watched,
        ${currentWeekSql(now)} as weekStart,
        ${usedSql(now)} as used,
        ${entitledTierSql(now)} as tier
      from ${users} where ${own} limit 1
    ),
    allowance as (
      select *, mayWrite and ${hasVoice} and ${fits} as allowed from person
    )
    select json_object('at', ${now}, 'userId', userId, 'allowed', allowed, 'used', used, 'seq', seq,
      'tier', tier, 'weekStart', weekStart, 'frozen', frozen, 'watched', watched) as answer
    from allowance
    union all
    select json_object('at', ${now}) as answer where not exists (select 1 from person)`;
}

/**
 * SQL that counts the messages of the user of `own` as the call's stored `Found`
 * allows, if the condition holds.
 */
export function countSql(own: SQL, found: SQL, when: SQL): SQL {
  return build
    .update(users)
    .set({
      used: sql`${found} ->> 'used' + ${count}`,
      weekStart: sql`${found} ->> 'weekStart'`,
      usageSeq: sql`${users.usageSeq} + 1`,
    })
    .where(and(own, sql`${found} ->> 'allowed' = 1`, when))
    .getSQL();
}

/**
 * The total that open streams receive, or null where nothing was counted or no stream
 * can be open.
 */
export function totalToPublish(found: Found, count: number) {
  if (!isKnown(found) || !found.allowed || !found.watched) return null;
  const { userId, seq, used, weekStart, frozen } = found;
  const resetsAt = frozen ? null : weekStart + weekMs;
  return { userId, total: { kind: 'total' as const, seq: seq + 1, used: used + count, resetsAt } };
}

function isKnown(found: Found): found is Counted {
  return 'userId' in found;
}

/**
 * The response to the bot; `count` is the number of messages of the call, 0 if it only
 * asks.
 */
export function usageResponseOf(found: Found, count: number): Usage {
  if (!isKnown(found))
    return usageResponse({ allowed: false, used: 0, tier: 'free', resetsAt: found.at + weekMs });

  const allowed = found.allowed === 1;
  const used = found.used + (allowed ? count : 0);
  const { tier, weekStart } = found;
  return usageResponse({ allowed, used, tier, resetsAt: weekStart + weekMs });
}

export function usageResponse(facts: {
  allowed: boolean;
  used: number;
  tier: Usage['tier'];
  resetsAt: number;
}): Usage {
  const limit = weeklyLimit(facts.tier);
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
