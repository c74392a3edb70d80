import { and, desc, eq, inArray, gt, or, sql } from 'drizzle-orm';
import {
  botCalls,
  codes,
  customers,
  identityConflicts,
  outbox,
  sessions,
  type User,
} from '#db/schema';
import { plans } from '../../contract/plans.ts';
import { allowedAt } from '../../lib/rate-limits.ts';
import { namesOf } from '../../identity/identity.ts';
import { phoneSubjects } from '../../identity/phone.ts';
import { entitledTier, onTrial } from '../../usage/allowance.ts';
import { currentCount } from '../../usage/week.ts';
import type { SupportRequest } from './command-audit.ts';
import type { Stripe } from 'stripe';
import { openStripe, unlessMissing } from '../../billing/stripe-client.ts';
import type { Settings } from '../../settings.ts';

const lastCalls = 10;

/** The facts about a user that support may see; all instants in unix ms. Reads no message, secret or hash. */
export async function describeUser(
  { db, settings }: Pick<SupportRequest, 'db' | 'settings'>,
  user: User,
  now: number,
) {
  const { id, phone } = user;
  const { codesTo, everyCodeTo, wrongTriesAt } = await phoneSubjects(settings, phone);
  const mayAskAt = allowedAt([{ subject: codesTo, limits: settings.LIMIT_CODES_PER_NUMBER }]);
  const ofDayAt = allowedAt([
    { subject: everyCodeTo, limits: settings.LIMIT_CODES_PER_NUMBER_HARD },
  ]);
  const mayTryAt = allowedAt([
    { subject: wrongTriesAt, limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER },
  ]);
  const [limits, [code], live, events, calls, [customer], names, conflicts] = await db.batch([
    db.all<{ codesFrom: number; ofDayFrom: number; triesFrom: number }>(
      sql`select ${mayAskAt} as codesFrom, ${ofDayAt} as ofDayFrom, ${mayTryAt} as triesFrom`,
    ),
    db
      .select({ expiresAt: codes.expiresAt, triesLeft: codes.triesLeft })
      .from(codes)
      .where(and(eq(codes.phone, phone), eq(codes.challenge, ''))),
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
      .where(eq(outbox.userId, id))
      .orderBy(outbox.seq),
    db
      .select({ at: botCalls.at, allowed: sql<number>`${eq(botCalls.outcome, 'allowed')}` })
      .from(botCalls)
      .where(
        and(
          sql`${botCalls.facts} ->> '$.userId' = ${id}`,
          inArray(botCalls.outcome, ['allowed', 'spent']),
        ),
      )
      .orderBy(desc(botCalls.at))
      .limit(lastCalls),
    db
      .select({
        stripeId: customers.stripeId,
        syncedAt: customers.syncedAt,
        failures: customers.failures,
      })
      .from(customers)
      .where(eq(customers.userId, id)),
    namesOf(db, id),
    db
      .select()
      .from(identityConflicts)
      .where(or(eq(identityConflicts.userId, id), eq(identityConflicts.otherUserId, id))),
  ]);
  return {
    account: accountOf(user),
    plan: planOf(user, now),
    week: {
      ...currentCount(user, now),
      limit: plans[entitledTier(user, now)].messageLimit,
      frozen: user.weekFrozen,
    },
    limits: {
      nextCodeAt: ifFuture(limits[0]?.codesFrom, now),
      nextCodeOfDayAt: ifFuture(limits[0]?.ofDayFrom, now),
      nextTryAt: ifFuture(limits[0]?.triesFrom, now),
    },
    code: code ?? null,
    sessions: live,
    eventsForTheBot: events,
    lastBotCalls: calls.map(({ at, allowed }) => ({ at, allowed: allowed === 1 })),
    customer: customer ?? null,
    names,
    conflicts,
  };
}

export type UserDescription = Awaited<ReturnType<typeof describeUser>>;

function accountOf(user: User) {
  const { id, phone, status, platform, createdAt, contactedAt, lastContactAt, lastSeenAt } = user;
  const chat = { consentVersion: user.chatConsentVersion, consentAt: user.chatConsentAt };
  const times = {
    createdAt,
    contactedAt,
    lastContactAt: lastContactAt || null,
    lastSeenAt: lastSeenAt || null,
  };
  return { id, phone, status, platform, ...times, chat };
}

function planOf(user: User, now: number) {
  const { tier, subscriptionStatus, renewalAt, cancelAt, scheduledTier, trialTier, trialEndsAt } =
    user;
  const { collectionPause, resumesAt } = user;
  const trial = onTrial(user, now) ? { tier: trialTier, endsAt: trialEndsAt } : null;
  return {
    tier: entitledTier(user, now),
    subscription: tier,
    subscriptionStatus,
    renewalAt,
    cancelAt,
    scheduledTier,
    pause: collectionPause && { status: collectionPause, resumesAt },
    trial,
  };
}

const ifFuture = (instant: number | undefined, now: number) =>
  instant !== undefined && instant > now ? instant : null;

export type ReturnedPayment = {
  charge: string;
  at: number;
  /** In the smallest unit of the currency. */
  amount: number;
  refunded: number;
  currency: string;
  disputes: string[];
};

type Subscription = { id: string; status: string; createdAt: number; cancelAtPeriodEnd: boolean };
export type Payments =
  | { state: 'known'; subscriptions: Subscription[]; returned: ReturnedPayment[] }
  | { state: 'none' | 'unknown customer' | 'Stripe refuses the key' | 'Stripe does not respond' };

/** The subscriptions of a customer at Stripe, and the payments that were disputed or refunded; times in unix ms. */
export async function describePayments(
  settings: Settings,
  customer: string | null,
): Promise<Payments> {
  if (!customer) return { state: 'none' };
  try {
    const stripe = await openStripe(settings);
    const listed = await unlessMissing(
      stripe.subscriptions.list({ customer, status: 'all', limit: 20 }),
    );
    if (!listed) return { state: 'unknown customer' };
    return {
      state: 'known',
      subscriptions: listed.data.map(summaryOf),
      returned: await returnedPayments(stripe, customer),
    };
  } catch (error) {
    const { statusCode } = error as { statusCode?: number };
    return {
      state:
        statusCode === 401 || statusCode === 403
          ? 'Stripe refuses the key'
          : 'Stripe does not respond',
    };
  }
}

function summaryOf({
  id,
  status,
  created,
  cancel_at_period_end,
}: Stripe.Subscription): Subscription {
  return { id, status, createdAt: created * 1000, cancelAtPeriodEnd: cancel_at_period_end };
}

export async function returnedPayments(
  stripe: Stripe,
  customer: string,
): Promise<ReturnedPayment[]> {
  const charges = await unlessMissing(stripe.charges.list({ customer, limit: 100 }));
  const returned = (charges?.data ?? []).filter(
    ({ disputed, amount_refunded }) => disputed || amount_refunded > 0,
  );
  const payments: ReturnedPayment[] = [];
  for (const { id, amount, amount_refunded, created, currency, disputed } of returned) {
    const disputes = disputed
      ? (await stripe.disputes.list({ charge: id })).data.map(({ status }) => status)
      : [];
    payments.push({
      charge: id,
      at: created * 1000,
      amount,
      refunded: amount_refunded,
      currency,
      disputes,
    });
  }
  return payments;
}

const live = new Set(['active', 'trialing', 'past_due']);

export function advise(
  { account, plan, week, limits, eventsForTheBot, conflicts }: UserDescription,
  payments: Payments,
): string[] {
  const paying =
    payments.state === 'known' && payments.subscriptions.some(({ status }) => live.has(status));
  const disputed =
    payments.state === 'known' && payments.returned.some(({ disputes }) => disputes.length > 0);
  const spent = week.limit !== null && week.limit >= 0 && week.used >= week.limit;
  const advice: [boolean, string][] = [
    [account.status === 'pending', 'The account waits for approval: the bot approves it.'],
    [
      account.contactedAt === null,
      'The number has never written to the assistant: it has to write before it gets a code.',
    ],
    [
      limits.nextCodeAt !== null || limits.nextTryAt !== null,
      'Sign-in is limited: a message to the assistant clears it, and so does `release`.',
    ],
    [
      limits.nextCodeOfDayAt !== null,
      'Nothing clears the limit of all codes in a day: the number waits for its next code.',
    ],
    [
      paying && plan.subscription === 'free',
      'Stripe has a subscription and the account has none: run `sync`.',
    ],
    [
      payments.state === 'unknown customer',
      'Stripe does not know this customer: check that STRIPE_SECRET_KEY is of the same account.',
    ],
    [
      payments.state === 'Stripe refuses the key',
      'Stripe refuses STRIPE_SECRET_KEY, so payments are not shown: run `npm run doctor`.',
    ],
    [
      payments.state === 'Stripe does not respond',
      'Stripe does not respond: payments are not shown.',
    ],
    [
      plan.subscriptionStatus === 'past_due',
      'A payment is overdue: the user pays it through `Manage Subscription`.',
    ],
    [disputed, 'A payment is disputed: answer it in the Stripe Dashboard.'],
    [
      conflicts.length > 0,
      'WhatsApp reported this person with an id of somebody else: the number may have a new owner. Ask before you `move` or `erase`.',
    ],
    [spent, 'The messages of this week are spent.'],
    [
      eventsForTheBot.some(({ parkedAt }) => parkedAt !== null),
      'The bot refused an event of this user: see `outbox`.',
    ],
  ];
  return advice.flatMap(([applies, sentence]) => (applies ? [sentence] : []));
}
