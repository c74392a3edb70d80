import { and, desc, eq, inArray, gt, ne, or, sql } from 'drizzle-orm';
import {
  botCalls,
  codes,
  customers,
  identityConflicts,
  outbox,
  sessions,
  type User,
  withdrawals,
} from '#db/schema';
import { plans } from '../../contract/plans.ts';
import { allowedAtSql } from '../../lib/rate-limits.ts';
import { namesOf } from '../../identity/aliases.ts';
import { phoneSubjects, type PhoneNumber } from '../../identity/phone.ts';
import { entitledTier, onTrial } from '../../usage/allowance.ts';
import { currentCount } from '../../usage/week.ts';
import type { SupportRequest } from './command-audit.ts';
import type { Stripe } from 'stripe';
import { subscriptionPaidBy } from '../../billing/invoices.ts';
import { idOf } from '../../billing/subscriptions.ts';
import { openStripe, unlessMissing } from '../../billing/stripe-client.ts';
import type { Settings } from '../../settings.ts';
import { advice, type AdviceName } from './advice.ts';

const lastCalls = 10;

type Described = Pick<SupportRequest, 'db' | 'settings'>;

/** Reads no message, secret or hash. Unix ms. */
export async function describeUser(scope: Described, user: User, now: number) {
  const [[limits], [code], live, events, calls, [customer], names, conflicts, statements] =
    await readAbout(scope, user, now);
  return {
    account: accountOf(user, names),
    plan: planOf(user, now),
    week: {
      ...currentCount(user, now),
      limit: plans[entitledTier(user, now)].messageLimit,
      frozen: user.weekFrozen,
    },
    limits: {
      nextCodeAt: ifFuture(limits?.codesFrom, now),
      nextCodeOfDayAt: ifFuture(limits?.ofDayFrom, now),
      nextTryAt: ifFuture(limits?.triesFrom, now),
    },
    code: code ?? null,
    sessions: live,
    eventsForTheBot: events,
    lastBotCalls: calls.map(({ at, allowed }) => ({
      at,
      allowed: allowed === 1,
    })),
    customer: customer ?? null,
    names,
    conflicts,
    statements,
  };
}

async function readAbout({ db, settings }: Described, { id, phone }: User, now: number) {
  const limits = await limitsSql(settings, phone);
  return db.batch([
    db.all<Record<'codesFrom' | 'ofDayFrom' | 'triesFrom', number>>(limits),
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
      .select({
        at: botCalls.at,
        allowed: sql<number>`${eq(botCalls.outcome, 'allowed')}`,
      })
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
    db
      .select({
        seq: withdrawals.seq,
        submittedAt: withdrawals.submittedAt,
        origin: withdrawals.origin,
        state: withdrawals.state,
        reason: withdrawals.reason,
        subscription: withdrawals.subscription,
        dueAt: withdrawals.dueAt,
      })
      .from(withdrawals)
      .where(and(eq(withdrawals.userId, id), ne(withdrawals.state, 'done')))
      .orderBy(withdrawals.seq),
  ]);
}

async function limitsSql(settings: Settings, phone: PhoneNumber) {
  const { codesTo, everyCodeTo, wrongTriesAt } = await phoneSubjects(settings, phone);
  const mayAskAt = allowedAtSql([
    { subject: codesTo, limits: settings.require('LIMIT_CODES_PER_NUMBER') },
  ]);
  const ofDayAt = allowedAtSql([
    { subject: everyCodeTo, limits: settings.require('LIMIT_CODES_PER_NUMBER_HARD') },
  ]);
  const mayTryAt = allowedAtSql([
    { subject: wrongTriesAt, limits: settings.require('LIMIT_WRONG_TRIES_PER_NUMBER') },
  ]);
  return sql`select ${mayAskAt} as codesFrom, ${ofDayAt} as ofDayFrom, ${mayTryAt} as triesFrom`;
}

export type UserDescription = Awaited<ReturnType<typeof describeUser>>;

function accountOf(user: User, names: { proof: string }[]) {
  const isContested = user.isContested || names.some(({ proof }) => proof === 'contested');
  const { id, phone, status, platform, createdAt, contactedAt, lastContactAt, lastSeenAt } = user;
  const chat = {
    consentVersion: user.chatConsentVersion,
    consentAt: user.chatConsentAt,
  };
  const times = {
    createdAt,
    contactedAt,
    lastContactAt: lastContactAt || null,
    lastSeenAt: lastSeenAt || null,
  };
  return { id, phone, status, platform, isContested, ...times, chat };
}

function planOf(user: User, now: number) {
  const { tier, subscriptionStatus, renewalAt, cancelAt, scheduledTier, trialTier, trialEndsAt } =
    user;
  const { collectionPause, resumesAt } = user;
  const trial = onTrial(user, now)
    ? {
        tier: trialTier,
        endsAt: trialEndsAt,
      }
    : null;
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
  amount: number;
  refunded: number;
  currency: string;
  disputes: string[];
  subscription: string | null;
};

type ShownSubscription = {
  id: string;
  status: string;
  createdAt: number;
  cancelAtPeriodEnd: boolean;
};
export type Payments =
  | {
      state: 'known';
      subscriptions: ShownSubscription[];
      returned: ReturnedPayment[];
      hasCard: boolean;
      phone: string | null;
    }
  | { state: 'none' | 'unknown customer' | 'Stripe refuses the key' | 'Stripe does not respond' };

/** Unix ms. */
export async function describePayments(
  settings: Settings,
  customer: string | null,
): Promise<Payments> {
  if (!customer) return { state: 'none' };
  try {
    const stripe = await openStripe(settings);
    const listed = await unlessMissing(
      stripe.subscriptions.list({
        customer,
        status: 'all',
        limit: 20,
      }),
    );
    if (!listed) return { state: 'unknown customer' };
    return {
      state: 'known',
      subscriptions: listed.data.map(summaryOf),
      returned: await returnedPayments(stripe, customer),
      ...(await cardAndPhone(stripe, customer)),
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

async function cardAndPhone(stripe: Stripe, customer: string) {
  const found = await unlessMissing(stripe.customers.retrieve(customer));
  if (!found || found.deleted) return { hasCard: false, phone: null };
  const { invoice_settings: settings, phone } = found;
  return {
    hasCard: settings.default_payment_method !== null,
    phone: phone ?? null,
  };
}

function summaryOf({
  id,
  status,
  created,
  cancel_at_period_end,
}: Stripe.Subscription): ShownSubscription {
  return {
    id,
    status,
    createdAt: created * 1000,
    cancelAtPeriodEnd: cancel_at_period_end,
  };
}

export async function returnedPayments(
  stripe: Stripe,
  customer: string,
): Promise<ReturnedPayment[]> {
  const charges = await unlessMissing(
    stripe.charges.list({
      customer,
      limit: 100,
    }),
  );
  const returned = (charges?.data ?? []).filter(
    ({ disputed, amount_refunded }) => disputed || amount_refunded > 0,
  );
  const payments: ReturnedPayment[] = [];
  for (const { id, amount, amount_refunded, created, currency, disputed, ...charge } of returned) {
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
      subscription: await subscriptionPaidBy(stripe, idOf(charge.payment_intent)),
    });
  }
  return payments;
}

const live = new Set(['active', 'trialing', 'past_due']);

type OpenStatement = UserDescription['statements'][number];

const waitsForObjection = ({ origin, state, subscription, dueAt }: OpenStatement) =>
  origin === 'public' && state === 'received' && subscription === null && dueAt !== null;

/** The cron job looks at it no more. */
const isLeft = ({ state, dueAt }: OpenStatement) => state === 'needs_owner' || dueAt === null;

/** https://docs.stripe.com/api/disputes/object#dispute_object-status */
const awaitsAnswer = (status: string) => status.endsWith('needs_response');

export function advise(found: UserDescription, payments: Payments): string[] {
  const { account, plan, week, limits, eventsForTheBot, customer, statements } = found;
  const known = payments.state === 'known' ? payments : null;
  const paid = known?.subscriptions.filter(({ status }) => live.has(status)) ?? [];
  const goOn = paid.filter((each) => !each.cancelAtPeriodEnd).map(({ id }) => id);
  const returned = known?.returned ?? [];
  const disputed = returned.filter(({ disputes }) => disputes.some(awaitsAnswer));
  const withdrawnFrom = new Set(statements.map(({ subscription }) => subscription));
  const isWithdrawn = ({ subscription }: ReturnedPayment) =>
    subscription !== null && withdrawnFrom.has(subscription);

  const applies: Record<AdviceName, boolean> = {
    pending: account.status === 'pending',
    neverWrote: account.contactedAt === null,
    limited: limits.nextCodeAt !== null || limits.nextTryAt !== null,
    limitedToday: limits.nextCodeOfDayAt !== null,
    untied: paid.length > 0 && plan.subscription === 'free',
    customerUnknown: payments.state === 'unknown customer',
    keyRefused: payments.state === 'Stripe refuses the key',
    stripeSilent: payments.state === 'Stripe does not respond',
    outOfDate: (customer?.failures ?? 0) > 0,
    renamed: known?.phone !== null && known !== null && known.phone !== account.phone,
    overdue: plan.subscriptionStatus === 'past_due',
    disputed: disputed.some((each) => !isWithdrawn(each)),
    disputedAndWithdrawn: disputed.some(isWithdrawn),
    withdrawalMayBeObjected: statements.some(waitsForObjection),
    withdrawing: statements.some((each) => !isLeft(each) && !waitsForObjection(each)),
    withdrawalLeft: statements.some(isLeft),
    doubled: paid.length > 1,
    refunded: returned.some(
      ({ refunded, subscription }) =>
        refunded > 0 && subscription !== null && goOn.includes(subscription),
    ),
    planRefused: plan.trial !== null && known?.hasCard === true && paid.length === 0,
    conflict: account.isContested,
    spent: week.limit !== null && week.limit >= 0 && week.used >= week.limit,
    parked: eventsForTheBot.some(({ parkedAt }) => parkedAt !== null),
  };
  const names = Object.keys(applies) as AdviceName[];
  return names.filter((name) => applies[name]).map((name) => advice[name]);
}
