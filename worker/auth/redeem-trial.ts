import { sql } from 'drizzle-orm';
import type { Database } from '../db.ts';
import { entitledTierSql } from '../usage/entitlement.ts';
import { tellBot } from '../messaging/outbox.ts';
import { openSession } from './session.ts';

type Row = { spent: number; id: string | null; phone: string | null };
type Redeemed = { user: { id: string; phone: string } | null; spent: boolean };

const dayMs = 86_400_000;

/** Uses a trial link up, grants its days and opens the session: one round trip, once. */
export async function redeemTrial(db: Database, macs: string[], sessionId: string, now: number): Promise<Redeemed> {
  const open = sql`mac in ${macs} and used_by is null and expires_at > ${now}`;
  const spent = sql`exists (select 1 from spent_trials s where s.phone_mac = trial_links.phone_mac)`;
  const won = sql`(select * from trial_links where mac in ${macs} and used_by = ${sessionId})`;
  const results = await db.batch([
    db.all<{ spent: number }>(sql`select ${spent} as spent from trial_links where ${open}`),
    db.run(sql`update trial_links set used_by = ${sessionId} where ${open} and not ${spent}`),
    db.run(sql`insert into spent_trials (phone_mac, at) select distinct phone_mac, ${now}
      from trial_links where user_id = (select user_id from ${won}) on conflict do nothing`),
    db.run(sql`update users set trial_tier = link.tier, trial_ends_at = ${now} + link.days * ${dayMs}
      from ${won} link where users.id = link.user_id`),
    db.run(
      tellBot(
        'plan.changed',
        now,
        sql`phone`,
        sql`'tier', ${entitledTierSql(now)}`,
        sql`from users
      where id in (select user_id from ${won})`,
      ),
    ),
    db.run(openSession(sessionId, now, sql`from ${won} link join users u on u.id = link.user_id`)),
    db.all<Row>(sql`select u.id as id, u.phone as phone from sessions s join users u on u.id = s.user_id
      where s.id = ${sessionId}`),
  ]);
  const [user] = results[6];
  return { user: user?.id ? { id: user.id, phone: user.phone! } : null, spent: results[0][0]?.spent === 1 };
}
