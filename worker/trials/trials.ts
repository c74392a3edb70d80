import { sql, eq, inArray } from 'drizzle-orm';
import { users, trialLinks, usedTrials } from '#db/schema';
import type { Settings } from '../settings.ts';
import { insertBotEvent } from '../bot/outbox.ts';
import { batch, type Database } from '../lib/database.ts';
import { openSessionSql } from '../accounts/user-session.ts';
import { entitledTierSql } from '../usage/allowance.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { ExportSection } from '../accounts/user-record.ts';

/** How long a link may be opened; the length of its trial is the bot's choice. */
export const trialLinkLifetimeMs = 7 * dayMs;

type Redeemed = { user: { id: string } | null; spent: boolean };

/** Redeems a trial link once, and creates its session; a read first, so that an unknown token writes nothing. */
export async function redeemTrial(
  db: Database,
  settings: Settings,
  macs: string[],
  sessionId: string,
  now: number,
): Promise<Redeemed> {
  const open = sql`mac in ${macs} and used_by is null and expires_at > ${now}`;
  const spent = sql`exists (select 1 from used_trials s where s.phone_mac = trial_links.phone_mac)`;
  const redeemed = sql`(select * from trial_links where mac in ${macs} and used_by = ${sessionId})`;
  const theirs = sql`from ${users} where ${users.id} in (select user_id from ${redeemed})`;
  const planChanged = sql`'tier', ${entitledTierSql(now)}`;
  const [created, seen] = openSessionSql(
    sessionId,
    now,
    sql`from ${redeemed} link join ${users} on ${users.id} = link.user_id`,
    true,
  );
  const found = db.all<{ spent: number }>(
    sql`select ${spent} as spent from trial_links where ${open}`,
  );
  const [link] = await found;
  if (link?.spent !== 0) return { user: null, spent: link?.spent === 1 };
  const results = await batch(db, {
    spent: found,
    used: db.run(sql`update trial_links set used_by = ${sessionId} where ${open} and not ${spent}`),
    trial: db.run(sql`insert into used_trials (phone_mac, at) select distinct phone_mac, ${now}
      from trial_links where user_id = (select user_id from ${redeemed}) on conflict do nothing`),
    plan: db.run(sql`update ${users} set trial_tier = link.tier, trial_ends_at = ${now} + link.days * ${dayMs}
      from ${redeemed} link where ${users.id} = link.user_id`),
    event: db.run(insertBotEvent(settings, 'plan.changed', now, sql`phone`, planChanged, theirs)),
    session: db.run(created),
    seen: db.run(seen),
    user: db.all<{
      id: string;
    }>(sql`select u.id as id from sessions s join users u on u.id = s.user_id
      where s.id = ${sessionId}`),
  });
  return { user: results.user[0] ?? null, spent: results.spent[0]?.spent === 1 };
}

const batchSize = 200;
/** Stripe charges for the plan after a trial within seconds: until then the bot is not notified of the free plan. */
const chargeMs = 2 * minuteMs;

/** Queues the events of expired trials (the allowance needs only the clock); returns whose streams need a message. */
export async function endTrials(db: Database, settings: Settings, now: number): Promise<string[]> {
  const isCharged = sql`${users.tierWaits} and ${users.trialEndsAt} > ${now - chargeMs}`;
  const ended = sql`(select ${users.id} from ${users} where ${users.trialEndsAt} <= ${now} and not (${isCharged})
    order by ${users.trialEndsAt} limit ${sql.raw(String(batchSize))})`;
  const theirs = sql`${users.id} in ${ended}`;
  const event = insertBotEvent(
    settings,
    'plan.changed',
    now,
    sql`phone`,
    sql`'tier', ${entitledTierSql(now)}`,
    sql`from ${users} where ${theirs}`,
  );
  const [, rows] = await db.batch([
    db.run(event),
    db
      .update(users)
      .set({ trialTier: null, trialEndsAt: null })
      .where(theirs)
      .returning({ id: users.id }),
  ]);
  return rows.map(({ id }) => id);
}

export const exportTrials: ExportSection = async ({ user: { id, phone }, db, settings }) => {
  const phoneMacs = await keyedHashes(settings.CODE_PEPPER, 'phone', phone);
  const { tier, days, expiresAt } = trialLinks;
  const used = sql<boolean>`${trialLinks.usedBy} is not null`.mapWith(Boolean);
  const [links, trials] = await db.batch([
    db.select({ tier, days, expiresAt, used }).from(trialLinks).where(eq(trialLinks.userId, id)),
    db
      .select({ at: usedTrials.at })
      .from(usedTrials)
      .where(inArray(usedTrials.phoneMac, phoneMacs)),
  ]);
  return { trialLinks: links, usedTrials: trials };
};
