import { and, asc, eq, gt, inArray, lte, not } from 'drizzle-orm';
import { users, trialLinks, usedTrials } from '#db/schema';
import type { Settings } from '../settings.ts';
import { insertBotEventSql } from '../bot/outbox.ts';
import type { Database } from '../lib/database.ts';
import { entitledTierSql } from '../usage/allowance.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { ExportSection } from '../identity/user-record.ts';

export const trialLinkLifetimeMs = 7 * dayMs;

const batchSize = 200;
/**
 * Stripe charges for the plan after a trial within seconds:
 * until then the bot is not notified of the free plan.
 */
const chargeMs = 2 * minuteMs;

export async function endTrials(db: Database, settings: Settings, now: number): Promise<string[]> {
  const isCharged = and(users.tierWaits, gt(users.trialEndsAt, now - chargeMs))!;
  const ended = db
    .select({ id: users.id })
    .from(users)
    .where(and(lte(users.trialEndsAt, now), not(isCharged)))
    .orderBy(asc(users.trialEndsAt))
    .limit(batchSize);

  const who = inArray(users.id, ended);
  const data = { tier: entitledTierSql(now) };
  const [, rows] = await db.batch([
    db.run(insertBotEventSql({ settings, type: 'plan.changed', now, who, data })),
    db
      .update(users)
      .set({ trialTier: null, trialEndsAt: null })
      .where(who)
      .returning({ id: users.id }),
  ]);

  return rows.map(({ id }) => id);
}

export const exportTrials: ExportSection = async ({ user: { id, phone }, db, settings }) => {
  const phoneMacs = await keyedHashes(settings.CODE_PEPPER, 'phone', phone);
  const { tier, days, expiresAt, isUsed: used } = trialLinks;

  const [links, trials] = await db.batch([
    db
      .select({
        tier,
        days,
        expiresAt,
        used,
      })
      .from(trialLinks)
      .where(eq(trialLinks.userId, id)),
    db
      .select({ at: usedTrials.at })
      .from(usedTrials)
      .where(inArray(usedTrials.phoneMac, phoneMacs)),
  ]);

  return { trialLinks: links, usedTrials: trials };
};
