import { sql, type SQL } from 'drizzle-orm';
import { usageAnswer } from './profile.ts';
import type { Tier, Usage } from '../contract/shapes.ts';
import { entitledTierSql, limitSql, voiceSql } from './entitlement.ts';
import { currentWeekSql, weekMs } from './week.ts';

const [phone, count, now] = [sql.placeholder('phone'), sql.placeholder('count'), sql.placeholder('now')];

/** What fills the statements below, besides `now`. */
export const messageValues = (phone: string, count: number) => ({ phone, count });

/** What a usage post found; for a number that never wrote there is no user. */
export type Found = {
  /** Kept with the answer, so that the same call again tells the same. */
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

/** SQL for the JSON of `Found`, one row, whether anybody has the number or not. */
export function allowanceSql(kind: 'text' | 'voice'): SQL {
  const withVoice = kind === 'voice' ? sql`and ${voiceSql(sql`tier_now`)}` : sql``;
  return sql`
    select json_object('userId', id, 'allowed', allowed, 'used', used_now, 'seq', usage_seq, 'tier', tier_now,
      'weekStart', week_now, 'frozen', week_frozen, 'watched', watched_until > ${now}, 'at', ${now}) as answer
    from (
      select *, (status = 'approved' and contacted_at is not null ${withVoice}
        and used_now + ${count} <= ${limitSql(sql`tier_now`)}) as allowed
      from (
        select *, case when week_start = week_now then used else 0 end as used_now
        from (select *, ${currentWeekSql(now)} as week_now, ${entitledTierSql(now)} as tier_now
          from users where phone = ${phone})))
    union all select json_object('at', ${now}) as answer where not exists (select 1 from users where phone = ${phone})`;
}

/** SQL that counts the messages in the week that runs; the condition says when. */
export function countSql(when: SQL): SQL {
  const week = currentWeekSql(now);
  return sql`update users set used = (case when week_start = ${week} then used else 0 end) + ${count},
    week_start = ${week}, usage_seq = usage_seq + 1 where phone = ${phone} and ${when}`;
}

/** The bot's answer; `counted` messages were added after the facts were read. */
export function answerOf(found: Found, counted: number): Usage {
  return usageAnswer({
    allowed: found.allowed === 1,
    used: (found.used ?? 0) + counted,
    tier: found.tier ?? 'free',
    resetsAt: (found.weekStart ?? found.at) + weekMs,
  });
}
