import { and, eq, gt, isNotNull, not, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { trialLinks, usedTrials, users, type User } from '#db/schema';
import { openSession } from '../identity/open-session.ts';
import { queueEvent } from '../bot/outbox.ts';
import { bindSession, isOwnTrialLink } from '../identity/bindings.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { greatest, iif, isTrue, oneRow, plus, rowExists, times } from '../lib/expressions.ts';
import { build, isIn } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';
import { transaction, type Transaction } from '../lib/transaction.ts';
import { entitledTierSql } from '../usage/allowance.ts';
import type { SessionScope } from '../request-scope.ts';

export type Redemption =
  | { outcome: 'begun'; user: User; sessionId: string }
  /** A link that was used, and whose trial runs. */
  | { outcome: 'running' | 'spent' | 'invalid' };

/** A refused call writes nothing, so it reads first. */
export async function redeemTrial(scope: SessionScope, token: string): Promise<Redemption> {
  const { db, settings, now } = scope;
  const macs = await keyedHashes(settings.CODE_PEPPER, 'trial', token);
  const state = stateOf(now);
  const [link] = await db
    .select({
      ...state,
      mac: trialLinks.mac,
      ownerMac: trialLinks.ownerMac,
      phone: users.phone,
    })
    .from(trialLinks)
    .leftJoin(users, eq(users.id, trialLinks.userId))
    .where(isIn(trialLinks.mac, macs));

  if (link?.isRunning) return { outcome: 'running' };
  if (!link?.isOpen) return { outcome: 'invalid' };
  if (link.isSpent) return { outcome: 'spent' };
  const { mac: linkMac, ownerMac, phone } = link;
  const isOwn =
    phone !== null &&
    (await isOwnTrialLink(settings, {
      linkMac,
      phone,
      mac: ownerMac,
    }));
  if (!isOwn) return { outcome: 'invalid' };

  const own = eq(trialLinks.mac, linkMac);
  const tx = transaction(db, {
    from: oneRow([trialLinks, own], [users, eq(users.id, trialLinks.userId)]),
    facts: {
      ...state,
      userId: trialLinks.userId.getSQL() as SQL<string>,
      tier: trialLinks.tier.getSQL(),
      days: trialLinks.days.getSQL(),
    },
    outcomes: ({ isRunning, isOpen, isSpent }) => ({
      running: isRunning,
      invalid: not(isOpen),
      spent: isSpent,
    }),
    otherwise: 'begun',
  });

  const userId = tx.fact('userId');
  const trialEndsAt = plus(now, times(tx.fact('days'), dayMs));
  // A used link is kept as long as its trial, so that
  // a second tap finds what the first one has begun.
  const linkEnd = greatest(trialLinks.expiresAt, trialEndsAt);
  tx.update(['begun'], trialLinks, { isUsed: true, expiresAt: linkEnd }, own);
  spendTrial(tx, userId, now);

  const trial = { trialTier: tx.fact('tier'), trialEndsAt };
  const who = eq(users.id, userId);
  tx.update(['begun'], users, { ...trial, ...newWeek(now) }, who);
  const data = { tier: entitledTierSql(now) };
  queueEvent(tx, ['begun'], {
    settings,
    type: 'plan.changed',
    now,
    who,
    data,
  });

  const mac = await bindSession(settings, {
    sessionId: tx.id,
    phone,
    isLimited: true,
  });
  openSession(tx, ['begun'], {
    userId,
    now,
    isLimited: true,
    mac,
    device: scope.device,
  });
  const { outcome, reads } = await tx.run({ user: db.select().from(users).where(who) });

  if (outcome !== 'begun') return { outcome };
  return { outcome, user: reads.user[0]!, sessionId: tx.id };
}

type Redeeming = Transaction<'running' | 'invalid' | 'spent' | 'begun', unknown>;

function spendTrial(tx: Redeeming, userId: SQL, now: number): void {
  const theirs = build
    .selectDistinct({ phoneMac: trialLinks.phoneMac })
    .from(trialLinks)
    .where(eq(trialLinks.userId, userId))
    .as('theirs');
  const used = { phoneMac: theirs.phoneMac.getSQL(), at: now };
  tx.insert(['begun'], usedTrials, used, { from: theirs, upsert: 'ignore' });
}

function stateOf(now: number) {
  const { isUsed, expiresAt, phoneMac } = trialLinks;
  const isOnTrial = and(isNotNull(users.trialTier), gt(users.trialEndsAt, now));
  return {
    isOpen: isTrue(and(not(isUsed), gt(expiresAt, now))),
    isRunning: isTrue(and(isUsed, isOnTrial)),
    isSpent: rowExists(usedTrials, eq(usedTrials.phoneMac, phoneMac)),
  };
}

/** A begun trial begins a week; a paid week goes on. */
function newWeek(now: number) {
  const { weekAnchor, weekStart, used, usageSeq, weekFrozen } = users;
  const unlessPaid = (column: SQLiteColumn, value: number) =>
    iif<number>(weekFrozen, column, value);
  return {
    weekAnchor: unlessPaid(weekAnchor, now),
    weekStart: unlessPaid(weekStart, now),
    used: unlessPaid(used, 0),
    usageSeq: plus(usageSeq, 1),
  };
}
