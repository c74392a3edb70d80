import { and, desc, eq, gt, sql } from 'drizzle-orm';
import { botCalls, codes, customers, outbox, sessions, type User } from '#db/schema';
import { plans } from '../../contract/plans.ts';
import { allowedAt } from '../../lib/rate-limits.ts';
import { phoneSubjects } from '../../accounts/phone.ts';
import { entitledTier, onTrial } from '../../usage/allowance.ts';
import { currentCount } from '../../usage/week.ts';
import type { SupportRequest } from './support-command.ts';

const lastCalls = 10;

/** The facts about a user that support may see; all instants in unix ms. Reads no message, secret or hash. */
export async function describeUser({ db, settings }: Pick<SupportRequest, 'db' | 'settings'>, user: User, now: number) {
  const { id, phone } = user;
  const mayAskAt = allowedAt([
    { subject: `${phoneSubjects.codesTo}${phone}`, limits: settings.LIMIT_CODES_PER_NUMBER },
  ]);
  const mayTryAt = allowedAt([
    { subject: `${phoneSubjects.wrongTriesAt}${phone}`, limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER },
  ]);
  const [limits, [code], live, events, calls, [customer]] = await db.batch([
    db.all<{ codesFrom: number; triesFrom: number }>(sql`select ${mayAskAt} as codesFrom, ${mayTryAt} as triesFrom`),
    db.select({ expiresAt: codes.expiresAt, triesLeft: codes.triesLeft }).from(codes).where(eq(codes.phone, phone)),
    db
      .select({ createdAt: sessions.createdAt, lastSeenAt: sessions.lastSeenAt })
      .from(sessions)
      .where(and(eq(sessions.userId, id), gt(sessions.expiresAt, now)))
      .orderBy(desc(sessions.createdAt)),
    db
      .select({
        seq: outbox.seq,
        type: sql<string>`${outbox.body} ->> '$.type'`,
        createdAt: outbox.createdAt,
        attempts: outbox.attempts,
        parkedAt: outbox.parkedAt,
      })
      .from(outbox)
      .where(eq(outbox.phone, phone))
      .orderBy(outbox.seq),
    db
      .select({ at: botCalls.at, allowed: sql<number | null>`${botCalls.answer} ->> '$.allowed'` })
      .from(botCalls)
      .where(sql`${botCalls.answer} ->> '$.userId' = ${id}`)
      .orderBy(desc(botCalls.at))
      .limit(lastCalls),
    db
      .select({ stripeId: customers.stripeId, syncedAt: customers.syncedAt, failures: customers.failures })
      .from(customers)
      .where(eq(customers.userId, id)),
  ]);
  return {
    account: accountOf(user),
    plan: planOf(user, now),
    week: { ...currentCount(user, now), limit: plans[entitledTier(user, now)].messageLimit, frozen: user.weekFrozen },
    limits: { nextCodeAt: ifFuture(limits[0]?.codesFrom, now), nextTryAt: ifFuture(limits[0]?.triesFrom, now) },
    code: code ?? null,
    sessions: live,
    eventsForTheBot: events,
    lastBotCalls: calls.map(({ at, allowed }) => ({ at, allowed: allowed === null ? null : allowed === 1 })),
    customer: customer ?? null,
  };
}

export type UserDescription = Awaited<ReturnType<typeof describeUser>>;

function accountOf(user: User) {
  const { id, phone, status, platform, createdAt, contactedAt, lastContactAt, lastSeenAt } = user;
  const chat = { consentVersion: user.chatConsentVersion, consentAt: user.chatConsentAt };
  const times = { createdAt, contactedAt, lastContactAt: lastContactAt || null, lastSeenAt: lastSeenAt || null };
  return { id, phone, status, platform, ...times, chat };
}

function planOf(user: User, now: number) {
  const { tier, subscriptionStatus, renewalAt, cancelAt, scheduledTier, trialTier, trialEndsAt } = user;
  const trial = onTrial(user, now) ? { tier: trialTier, endsAt: trialEndsAt } : null;
  return {
    tier: entitledTier(user, now),
    subscription: tier,
    subscriptionStatus,
    renewalAt,
    cancelAt,
    scheduledTier,
    trial,
  };
}

const ifFuture = (instant: number | undefined, now: number) =>
  instant !== undefined && instant > now ? instant : null;
