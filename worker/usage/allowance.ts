import { and, sql, type SQL } from 'drizzle-orm';
import { users } from '#db/schema';
import { nameOf } from '../lib/insert-select.ts';
import { build } from '../lib/prepared-statements.ts';
import { usageResponse } from './profile.ts';
import type { Tier, Usage } from '../contract/schemas.ts';
import { entitledTierSql, fitsLimitSql, voiceSql } from './entitlement.ts';
import { currentWeekSql, weekMs } from './week.ts';
import type { PhoneNumber } from '../accounts/phone.ts';

const [phone, count, now] = [sql.placeholder('phone'), sql.placeholder('count'), sql.placeholder('now')];

const own = sql`${users.phone} = ${phone}`;

/** The parameters of the statements below, besides `now`. */
export const messageValues = (phone: PhoneNumber, count: number) => ({ phone, count });

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

/** SQL for one row with the JSON of `Found`, also for an unknown number. */
export function allowanceSql(kind: 'text' | 'voice'): SQL {
  const withVoice = kind === 'voice' ? sql`and ${voiceSql(sql`tier_now`)}` : sql``;
  return sql`
    select json_object('userId', ${nameOf(users.id)}, 'allowed', allowed, 'used', used_now,
      'seq', ${nameOf(users.usageSeq)}, 'tier', tier_now, 'weekStart', week_now, 'frozen', ${nameOf(users.weekFrozen)},
      'watched', ${nameOf(users.streamsOpenUntil)} > ${now}, 'at', ${now}) as answer
    from (
      select *, (${nameOf(users.status)} = 'approved' and ${nameOf(users.contactedAt)} is not null ${withVoice}
        and ${fitsLimitSql(sql`used_now + ${count}`, sql`tier_now`)}) as allowed
      from (
        select *, case when ${nameOf(users.weekStart)} = week_now then ${nameOf(users.used)} else 0 end as used_now
        from (select *, ${currentWeekSql(now)} as week_now, ${entitledTierSql(now)} as tier_now
          from ${users} where ${own})))
    union all select json_object('at', ${now}) as answer where not exists (select 1 from ${users} where ${own})`;
}

/** SQL that counts the messages in the current week, if the condition holds. */
export function countSql(when: SQL): SQL {
  const week = currentWeekSql(now);
  return build
    .update(users)
    .set({
      used: sql`(case when ${users.weekStart} = ${week} then ${users.used} else 0 end) + ${count}`,
      weekStart: week,
      usageSeq: sql`${users.usageSeq} + 1`,
    })
    .where(and(own, when))
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
