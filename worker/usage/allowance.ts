import { sql, type SQL, and } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { users } from '#db/schema';
import { planIds, plans, type PlanId } from '../contract/plans.ts';
import { nameOf, type Value, build } from '../lib/sql.ts';
import type { Tier, Usage } from '../contract/schemas.ts';
import { currentWeekSql, weekMs } from './week.ts';

type Held = {
  tier: PlanId;
  tierWaits: boolean;
  trialTier: PlanId | null;
  trialEndsAt: number | null;
};

/** Whether our trial decides the plan: it has not ended, and no running subscription grants a higher plan. */
export function onTrial({ tier, tierWaits, trialTier, trialEndsAt }: Held, now: number): boolean {
  if (!trialTier || !trialEndsAt || trialEndsAt <= now) return false;
  return tierWaits || plans[trialTier].level > plans[tier].level;
}

/** The plan that is granted. One that waits for the end of our trial is granted once it is paid. */
export function entitledTier(held: Held, now: number): PlanId {
  if (onTrial(held, now)) return held.trialTier!;
  return held.tierWaits ? 'free' : held.tier;
}

/** The same rule as SQL over a row of `users`. */
export function entitledTierSql(now: Value<number>): SQL<PlanId> {
  const [tier, trialTier] = [nameOf(users.tier), nameOf(users.trialTier)];
  const higher = sql`${levelOf(users.trialTier)} > ${levelOf(users.tier)}`;
  const waits = nameOf(users.tierWaits);
  const decides = sql`${nameOf(users.trialEndsAt)} > ${now} and (${waits} or ${higher})`;
  return sql`(case when ${decides} then ${trialTier} when ${waits} then 'free' else ${tier} end)`;
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

export function voiceSql(tier: SQL): SQL<number> {
  const withVoice = planIds.filter((id) => plans[id].hasVoice).map((id) => `'${id}'`);
  return sql`(${tier} in (${sql.raw(withVoice.join(', '))}))`;
}

function levelOf(column: SQLiteColumn): SQL {
  const levels = planIds.map((id) => `when '${id}' then ${plans[id].level}`).join(' ');
  return sql`(case ${nameOf(column)} ${sql.raw(levels)} end)`;
}

const [count, now] = [sql.placeholder('count'), sql.placeholder('now')];

/** The facts of a usage post; without a user if the number never wrote. */
export type Found = {
  /** Stored with the call, so that a replay gets the same response. */
  at: number;
  userId?: string;
  allowed?: number;
  used?: number;
  seq?: number;
  tier?: Tier;
  weekStart?: number;
  frozen?: number;
  /** Whether a stream of the user may be open. */
  watched?: number;
};

/**
 * SQL for one row with the JSON of `Found` about the user of `own`, also if there is none. `limit 1` keeps SQLite from
 * writing the inner expressions out wherever they are read: the statement compiles in 58 instead of 128 µs.
 */
export function allowanceSql(kind: 'text' | 'voice', own: SQL): SQL {
  const withVoice = kind === 'voice' ? sql`and ${voiceSql(sql`tier_now`)}` : sql``;
  const { id, status, contactedAt, weekStart, used, usageSeq, weekFrozen, streamsOpenUntil } =
    users;
  const read = [
    id,
    status,
    contactedAt,
    weekStart,
    used,
    usageSeq,
    weekFrozen,
    streamsOpenUntil,
  ].map(nameOf);
  return sql`
    select json_object('userId', ${nameOf(id)}, 'allowed', allowed, 'used', used_now, 'seq', ${nameOf(usageSeq)},
      'tier', tier_now, 'weekStart', week_now, 'frozen', ${nameOf(weekFrozen)},
      'watched', ${nameOf(streamsOpenUntil)} > ${now}, 'at', ${now}) as answer
    from (
      select *, (${nameOf(status)} = 'approved' and ${nameOf(contactedAt)} is not null ${withVoice}
        and ${fitsLimitSql(sql`used_now + ${count}`, sql`tier_now`)}) as allowed
      from (
        select *, case when ${nameOf(weekStart)} = week_now then ${nameOf(used)} else 0 end as used_now
        from (select ${sql.join(read, sql`, `)}, ${currentWeekSql(now)} as week_now, ${entitledTierSql(now)} as tier_now
          from ${users} where ${own} limit 1) limit 1) limit 1)
    union all select json_object('at', ${now}) as answer where not exists (select 1 from ${users} where ${own})`;
}

/** SQL that counts the messages of the user of `own` as the call's stored `Found` allows, if the condition holds. */
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

/** The response to the bot; `counted` is the number of messages added after the facts were read. */
export function usageResponseOf(found: Found, counted: number): Usage {
  return usageResponse({
    allowed: found.allowed === 1,
    used: (found.used ?? 0) + counted,
    tier: found.tier ?? 'free',
    resetsAt: (found.weekStart ?? found.at) + weekMs,
  });
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
