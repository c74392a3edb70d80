import { and, eq, gt, isNotNull, not, type SQL } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { trialLinks, usedTrials, users, type User } from '#db/schema';
import { openSession } from '../identity/open-session.ts';
import { queueEvent } from '../bot/outbox.ts';
import { bindSession, isOwnTrialLink } from '../identity/bindings.ts';
import type { PhoneNumber } from '../identity/phone.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { greatest, iif, isTrue, oneRow, plus, rowExists, times } from '../lib/expressions.ts';
import { build, isIn } from '../lib/sql.ts';
import { dayMs } from '../lib/time.ts';
import { transaction, type Transaction } from '../lib/transaction.ts';
import { entitledTierSql } from '../usage/allowance.ts';
import type { SessionScope } from '../request-scope.ts';

/** `running`: it was used, and its trial runs. */
type Refusal = 'running' | 'spent' | 'invalid';

export type Redemption =
  | {
      outcome: 'begun';
      user: User;
      sessionId: string;
    }
  | { outcome: Refusal };

/**
 * Begins the trial of a link. A refused call writes nothing, so it reads first, and decides again
 * in the transaction. The first condition that holds decides:
 *
 * | outcome   | condition                                       | response            | rows      |
 * | --------- | ----------------------------------------------- | ------------------- | --------- |
 * | `running` | the link was used, and the trial of its account | 409 `trial_running` | none      |
 * |           | runs                                            |                     |           |
 * | `invalid` | the link is unknown, expired or used            | 401 `invalid_token` | none      |
 * | `spent`   | its number has had a trial                      | 409 `trial_spent`   | none      |
 * | `begun`   | none of these                                   | a limited session   | see below |
 *
 * `begun` writes `trial_links` (used, and as long-lived as the trial); `used_trials` of each
 * number for which the account has a link; `users`: the trial, a new week unless a paid one
 * goes on, and `usage_seq` + 1; `sessions`, and `users.last_seen_at` if that is an hour old;
 * `plan.changed` in `outbox`, unless 43 events of the account wait that are no messages, or there
 * is no bot. Of parallel calls one begins it, and the others are `running`; so is the same call
 * after a lost response. A link that our key did not bind to its account and number is `invalid`,
 * too.
 */
export async function redeemTrial(scope: SessionScope, token: string): Promise<Redemption> {
  const link = await readOpenLink(scope, token);
  return typeof link === 'string' ? { outcome: link } : beginTrial(scope, link);
}

type OpenLink = { mac: string; phone: PhoneNumber };

async function readOpenLink(
  { db, settings, now }: SessionScope,
  token: string,
): Promise<OpenLink | Refusal> {
  const macs = await keyedHashes(settings.CODE_PEPPER, 'trial', token);
  const [link] = await db
    .select({
      ...stateOf(now),
      mac: trialLinks.mac,
      bindingMac: trialLinks.bindingMac,
      phone: users.phone,
    })
    .from(trialLinks)
    .leftJoin(users, eq(users.id, trialLinks.userId))
    .where(isIn(trialLinks.mac, macs));

  if (link?.isRunning) return 'running';
  if (!link?.isOpen) return 'invalid';
  if (link.isSpent) return 'spent';

  const { mac, bindingMac, phone } = link;
  if (phone === null) return 'invalid';
  const isOwn = await isOwnTrialLink(settings, {
    linkMac: mac,
    phone,
    bindingMac,
  });
  return isOwn ? { mac, phone } : 'invalid';
}

async function beginTrial(scope: SessionScope, link: OpenLink): Promise<Redemption> {
  const { db, settings, now, device } = scope;
  const own = eq(trialLinks.mac, link.mac);
  const tx = decideTrial(scope, own);
  const userId = tx.fact('userId');
  const who = eq(users.id, userId);

  const trialEndsAt = plus(now, times(tx.fact('days'), dayMs));
  // A used link is kept as long as its trial, so that
  // a second tap finds what the first one has begun.
  const linkEnd = greatest(trialLinks.expiresAt, trialEndsAt);
  tx.update(['begun'], trialLinks, { isUsed: true, expiresAt: linkEnd }, own);
  spendTrial(tx, userId, now);

  const trial = { trialTier: tx.fact('tier'), trialEndsAt };
  tx.update(['begun'], users, { ...trial, ...newWeek(now) }, who);

  const data = { tier: entitledTierSql(now) };
  queueEvent(tx, ['begun'], { settings, type: 'plan.changed', now, who, data });

  const isLimited = true;
  const bound = {
    sessionId: tx.id,
    phone: link.phone,
    isLimited,
  };
  const bindingMac = await bindSession(settings, bound);
  openSession(tx, ['begun'], { userId, now, isLimited, bindingMac, device });

  const { outcome, reads } = await tx.run({ user: db.select().from(users).where(who) });

  if (outcome !== 'begun') return { outcome };
  return {
    outcome,
    user: reads.user[0]!,
    sessionId: tx.id,
  };
}

function decideTrial({ db, now }: SessionScope, own: SQL) {
  return transaction(db, {
    from: oneRow([trialLinks, own], [users, eq(users.id, trialLinks.userId)]),
    facts: {
      ...stateOf(now),
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
}

type Redeeming = Transaction<Refusal | 'begun', unknown>;

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
