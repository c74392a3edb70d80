import { sql, eq, inArray, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { sessions, users, trialLinks, usedTrials, type User } from '#db/schema';
import type { Settings } from '../settings.ts';
import { insertBotEvent } from '../bot/outbox.ts';
import { batch, type Database } from '../lib/database.ts';
import { bindSession, isOwnTrialLink } from '../lib/bindings.ts';
import type { PhoneNumber } from '../accounts/phone.ts';
import { openSessionSql } from '../accounts/user-session.ts';
import { entitledTierSql } from '../usage/allowance.ts';
import { nameOf } from '../lib/sql.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { ExportSection } from '../accounts/user-record.ts';

/** How long a link may be opened; the length of its trial is the bot's choice. */
export const trialLinkLifetimeMs = 7 * dayMs;

export type Redemption =
  | { outcome: 'begun'; user: User }
  /** A link that was used, and whose trial runs. */
  | { outcome: 'running' | 'spent' | 'invalid' };

type FoundLink = {
  isOpen: number;
  isSpent: number;
  isRunning: number;
  linkMac: string;
  ownerMac: string | null;
  phone: PhoneNumber | null;
};

/** Redeems a trial link once, and creates its session; a read first, so that an unknown token writes nothing. */
export async function redeemTrial(
  db: Database,
  settings: Settings,
  macs: string[],
  sessionId: string,
  now: number,
): Promise<Redemption> {
  const open = sql`mac in ${macs} and used_by is null and expires_at > ${now}`;
  const spent = sql`exists (select 1 from used_trials s where s.phone_mac = trial_links.phone_mac)`;
  const running = sql`used_by is not null and exists (select 1 from users u
    where u.id = trial_links.user_id and u.trial_tier is not null and u.trial_ends_at > ${now})`;
  const redeemed = sql`(select * from trial_links where mac in ${macs} and used_by = ${sessionId})`;
  const theirs = sql`from ${users} where ${users.id} in (select user_id from ${redeemed})`;
  const planChanged = sql`'tier', ${entitledTierSql(now)}`;
  const found = db.all<FoundLink>(sql`select (${open}) as isOpen, (${spent}) as isSpent,
    (${running}) as isRunning, trial_links.mac as linkMac, owner_mac as ownerMac,
    (select u.phone from users u where u.id = trial_links.user_id) as phone
    from trial_links where mac in ${macs}`);
  const [link] = await found;
  const refusal = refusalOf(link);
  if (refusal) return refusal;
  const { linkMac, ownerMac, phone } = link!;
  if (phone === null || !(await isOwnTrialLink(settings, { linkMac, phone, mac: ownerMac })))
    return { outcome: 'invalid' };

  const isLimited = true;
  const mac = await bindSession(settings, { sessionId, phone, isLimited });
  const owner = sql`from ${redeemed} link join ${users} on ${users.id} = link.user_id`;
  const [created, seen] = openSessionSql(sessionId, now, owner, { isLimited, mac });
  // A used link is kept as long as its trial, so that a second tap finds what the first one has begun.
  const linkEnd = sql`max(expires_at, ${now} + days * ${dayMs})`;
  const results = await batch(db, {
    found,
    used: db.run(sql`update trial_links set used_by = ${sessionId}, expires_at = ${linkEnd}
      where ${open} and not ${spent}`),
    trial: db.run(sql`insert into used_trials (phone_mac, at) select distinct phone_mac, ${now}
      from trial_links where user_id = (select user_id from ${redeemed}) on conflict do nothing`),
    plan: db.run(sql`update ${users} set trial_tier = link.tier, trial_ends_at = ${now} + link.days * ${dayMs},
      ${newWeekSql(now)} from ${redeemed} link where ${users.id} = link.user_id`),
    event: db.run(insertBotEvent(settings, 'plan.changed', now, sql`phone`, planChanged, theirs)),
    session: db.run(created),
    seen: db.run(seen),
    user: db
      .select({ user: users })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(eq(sessions.id, sessionId)),
  });
  const [row] = results.user;
  if (row) return { outcome: 'begun', user: row.user };
  // Another call has used the link meanwhile.
  return refusalOf(results.found[0]) ?? { outcome: 'invalid' };
}

function refusalOf(link: FoundLink | undefined): Redemption | null {
  if (link?.isRunning) return { outcome: 'running' };
  if (!link?.isOpen) return { outcome: 'invalid' };
  return link.isSpent ? { outcome: 'spent' } : null;
}

/** A begun trial begins a week; a paid week goes on. */
function newWeekSql(now: number): SQL {
  const unlessPaid = (column: SQLiteColumn, value: number) =>
    sql`${nameOf(column)} = case when ${users.weekFrozen} then ${column} else ${value} end`;
  const { weekAnchor, weekStart, used, usageSeq } = users;
  const changes = [
    unlessPaid(weekAnchor, now),
    unlessPaid(weekStart, now),
    unlessPaid(used, 0),
    sql`${nameOf(usageSeq)} = ${usageSeq} + 1`,
  ];
  return sql.join(changes, sql`, `);
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
