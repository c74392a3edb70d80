import { and, eq, gt, isNotNull, isNull, not, sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { trialLinks, usedTrials, users, type User } from '#db/schema';
import { openSession } from '../identity/user-session.ts';
import { insertBotEvent } from '../bot/outbox.ts';
import { bindSession, isOwnTrialLink } from '../lib/bindings.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { isIn } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';
import { transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { entitledTierSql } from '../usage/allowance.ts';

type Call = { db: Database; settings: Settings; now: number; device?: string | null };

export type Redemption =
  | { outcome: 'begun'; user: User; sessionId: string }
  /** A link that was used, and whose trial runs. */
  | { outcome: 'running' | 'spent' | 'invalid' };

/**
 * Redeems a trial link once, and opens its session.
 * A refused call writes nothing, so it reads first.
 */
export async function redeemTrial(call: Call, token: string): Promise<Redemption> {
  const { db, settings, now } = call;
  const macs = await keyedHashes(settings.CODE_PEPPER, 'trial', token);
  const state = stateOf(now);
  const [link] = await db
    .select({ ...state, mac: trialLinks.mac, ownerMac: trialLinks.ownerMac, phone: users.phone })
    .from(trialLinks)
    .leftJoin(users, eq(users.id, trialLinks.userId))
    .where(isIn(trialLinks.mac, macs));

  if (link?.isRunning) return { outcome: 'running' };
  if (!link?.isOpen) return { outcome: 'invalid' };
  if (link.isSpent) return { outcome: 'spent' };
  const { mac: linkMac, ownerMac, phone } = link;
  if (phone === null || !(await isOwnTrialLink(settings, { linkMac, phone, mac: ownerMac })))
    return { outcome: 'invalid' };

  const own = eq(trialLinks.mac, linkMac);
  const tx = transaction(db, {
    from: sql`(select 1) left join ${trialLinks} on ${own}
      left join ${users} on ${eq(users.id, trialLinks.userId)}`,
    facts: {
      ...state,
      userId: sql<string>`${trialLinks.userId}`,
      tier: sql<string>`${trialLinks.tier}`,
      days: sql<number>`${trialLinks.days}`,
    },
    outcomes: ({ isRunning, isOpen, isSpent }) => ({
      running: isRunning,
      invalid: not(isOpen),
      spent: isSpent,
    }),
    otherwise: 'begun',
  });

  const userId = tx.fact('userId');
  const trialMs = sql`${tx.fact('days')} * ${dayMs}`;
  // A used link is kept as long as its trial, so that
  // a second tap finds what the first one has begun.
  const linkEnd = sql`max(${trialLinks.expiresAt}, ${now} + ${trialMs})`;
  tx.update(['begun'], trialLinks, { usedBy: tx.id, expiresAt: linkEnd }, own);
  tx.insert(
    ['begun'],
    usedTrials,
    { phoneMac: sql`theirs.phone_mac`, at: now },
    {
      from: sql`(select distinct ${trialLinks.phoneMac} from ${trialLinks}
      where ${eq(trialLinks.userId, userId)}) as theirs`,
      upsert: 'ignore',
    },
  );

  const trial = { trialTier: sql`${tx.fact('tier')}`, trialEndsAt: sql`${now} + ${trialMs}` };
  const isUsers = eq(users.id, userId);
  tx.update(['begun'], users, { ...trial, ...newWeek(now) }, isUsers);
  tx.write(['begun'], (holds) => {
    const data = sql`'tier', ${entitledTierSql(now)}`;
    const theirs = sql`from ${users} where ${and(isUsers, holds)}`;
    return insertBotEvent(settings, 'plan.changed', now, sql`${users.phone}`, data, theirs);
  });

  const mac = await bindSession(settings, { sessionId: tx.id, phone, isLimited: true });
  openSession(tx, ['begun'], {
    userId,
    now,
    isLimited: true,
    mac,
    device: call.device,
  });
  const { outcome, reads } = await tx.run({ user: db.select().from(users).where(isUsers) });

  if (outcome !== 'begun') return { outcome };
  return { outcome, user: reads.user[0]!, sessionId: tx.id };
}

/** SQL facts of a link beside its user; each is 1 or 0. */
function stateOf(now: number) {
  const { usedBy, expiresAt, phoneMac } = trialLinks;
  const isOpen = and(isNull(usedBy), gt(expiresAt, now));
  const isOnTrial = and(isNotNull(users.trialTier), gt(users.trialEndsAt, now));
  return {
    isOpen: sql<number>`coalesce(${isOpen}, 0)`,
    isRunning: sql<number>`coalesce(${and(isNotNull(usedBy), isOnTrial)}, 0)`,
    isSpent: sql<number>`exists (
      select 1 from ${usedTrials} where ${eq(usedTrials.phoneMac, phoneMac)})`,
  };
}

/** A begun trial begins a week; a paid week goes on. */
function newWeek(now: number): Record<'weekAnchor' | 'weekStart' | 'used' | 'usageSeq', SQL> {
  const { weekAnchor, weekStart, used, usageSeq, weekFrozen } = users;
  const unlessPaid = (column: SQLiteColumn, value: number) =>
    sql`case when ${weekFrozen} then ${column} else ${value} end`;
  return {
    weekAnchor: unlessPaid(weekAnchor, now),
    weekStart: unlessPaid(weekStart, now),
    used: unlessPaid(used, 0),
    usageSeq: sql`${usageSeq} + 1`,
  };
}
