import { and, eq, gt, gte, isNotNull, ne, not } from 'drizzle-orm';
import { customers, users, type User } from '#db/schema';
import { queueEvent } from '../bot/outbox.ts';
import type { PaidPlanId } from '../contract/plans.ts';
import { countOnDay } from '../lib/daily-totals.ts';
import { iif, oneRow, plus } from '../lib/expressions.ts';
import { transaction, type Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { entitledTier, entitledTierSql } from '../usage/allowance.ts';
import { currentWeek, keepWeek, leftWeekOr, usedSql } from '../usage/week.ts';
import type { Scope } from '../request-scope.ts';
import type { SubscriptionState } from './subscription-state.ts';
import { dueAfter } from './sync-times.ts';
import { customersWhere, type Customer, type LeasedCustomer } from './lease.ts';
import { forgetReason } from './cancel-reason.ts';

export type FetchedState = {
  state: SubscriptionState;
  setupSession: string | null;
  offSaleTier: PaidPlanId | null;
  awaitsPayment: boolean;
};

type Saved = { user: User; customer: Customer };

const ifHeld = ['saved', 'outdated'] as const;

/**
 * Writes what was fetched from Stripe. Null if another call holds the lease by now. The first
 * condition that holds decides:
 *
 * | outcome    | condition                         | result | rows                              |
 * | ---------- | --------------------------------- | ------ | --------------------------------- |
 * | `lost`     | another call holds the lease, or  | null   | none                              |
 * |            | the user is gone                  |        |                                   |
 * | `outdated` | an event of Stripe has come since | saved  | as `saved`; `customers` keeps the |
 * |            |                                   |        | lease, and is due now             |
 * | `saved`    | none of these                     | saved  | see below                         |
 *
 * `customers`: what was synced, and the lease is over. If something has changed, `users`: the
 * subscription, its week, the end of a trial, `usage_seq`. Where a paid week begins, `left_weeks`
 * keeps the free one, and where it ends, `users` goes on with a kept one (`weekAfter`); a new
 * cancellation counts in `daily_totals`, and one that ended frees `users.reason_counted_for`.
 * `plan.changed` in `outbox`, if the granted plan is another one, and once more if ours is off
 * sale, unless 43 events of the account wait that are no messages, or there is no bot.
 */
export async function saveState(
  { db, settings }: Scope<'db' | 'settings'>,
  leased: LeasedCustomer,
  fetched: FetchedState,
): Promise<Saved | null> {
  const { customer, user } = leased;
  const { state, setupSession, awaitsPayment } = fetched;
  const now = Date.now();
  const own = eq(users.id, user.id);
  const isOwnLease = eq(customers.leaseToken, leased.token);
  const columns = columnsOf(state, user);
  const change = changeOf(user, columns);

  const tx = transaction(db, {
    from: oneRow([customers, isOwnLease], [users, eq(users.id, customers.userId)]),
    facts: {
      isHeld: isNotNull(users.id),
      hasEvent: gt(customers.dirty, customer.dirty),
    },
    outcomes: ({ isHeld, hasEvent }) => ({
      lost: not(isHeld),
      outdated: hasEvent,
    }),
    otherwise: 'saved',
  });

  // No way back renews the free week.
  if (change.beginsPaidWeek) await keepWeek(tx, ifHeld, { phone: user.phone, settings, now }, own);
  if (change.isAny) {
    const { isCutOff } = state;
    const week = await weekAfter({ ...change, isCutOff }, columns, { user, settings, now });
    const usageSeq = plus(users.usageSeq, 1);
    tx.update(ifHeld, users, { ...columns, ...week, usageSeq }, own);
  }
  announce(tx, { user, settings, now }, fetched);
  if (change.isCancelled) countOnDay(tx, ifHeld, { kind: 'cancellation' }, now);
  if (change.isResumed) forgetReason(tx, ifHeld, user.id);

  const done = {
    synced: customer.dirty,
    syncedAt: now,
    failures: 0,
    setupSession,
    hadSubscription: customer.hadSubscription || state.hadSubscription,
  };
  const { live, renewalAt } = state;
  const dueAt = dueAfter(
    {
      live,
      user,
      setupSession,
      renewalAt,
      awaitsPayment,
    },
    now,
  );
  tx.update(['saved'], customers, { ...done, dueAt, leaseUntil: 0 }, isOwnLease);
  tx.update(['outdated'], customers, { ...done, dueAt: now }, isOwnLease);
  const { reads } = await tx.run({ saved: customersWhere(db, isOwnLease) });

  return reads.saved[0] ?? null;
}

type Saving = Transaction<'lost' | 'outdated' | 'saved', unknown>;
type OfUser = {
  user: User;
  settings: Settings;
  now: number;
};

function announce(
  tx: Saving,
  { user, settings, now }: OfUser,
  { state, offSaleTier }: FetchedState,
): void {
  const own = eq(users.id, user.id);
  const tier = entitledTierSql(now);
  const event = { settings, type: 'plan.changed' as const, now };
  const isNews = and(own, ne(tier, announcedTier(user, state, now)));
  queueEvent(tx, ifHeld, {
    ...event,
    who: isNews,
    data: { tier },
  });
  if (offSaleTier)
    queueEvent(tx, ifHeld, {
      ...event,
      who: own,
      data: { tier, offSaleTier },
    });
}

type Columns = ReturnType<typeof columnsOf>;

function columnsOf(state: SubscriptionState, user: User) {
  const weekAnchor = weekAnchorOf(state, user);
  return {
    tier: state.tier,
    subscriptionStatus: state.status,
    renewalAt: state.renewalAt,
    cancelAt: state.cancelAt,
    scheduledTier: state.scheduledTier,
    collectionPause: state.collectionPause,
    resumesAt: state.resumesAt,
    tierWaits: state.tierWaits,
    ...(weekAnchor !== null && { weekAnchor }),
    weekFrozen: state.weekFrozen,
    ...(state.endsTrial && { trialTier: null, trialEndsAt: null }),
  };
}

function weekAnchorOf(state: SubscriptionState, user: User): number | null {
  if (state.weekAnchor !== null || !user.weekFrozen) return state.weekAnchor;
  return user.contactedAt ?? user.createdAt;
}

type StateChange = ReturnType<typeof changeOf>;

function changeOf(user: User, columns: Columns) {
  const isSame = ([name, value]: [string, unknown]) => user[name as keyof User] === value;
  return {
    isAny: !Object.entries(columns).every(isSame),
    beginsPaidWeek: !user.weekFrozen && columns.weekFrozen,
    endsPaidWeek: user.weekFrozen && !columns.weekFrozen,
    isCancelled: user.cancelAt === null && columns.cancelAt !== null,
    isResumed: user.cancelAt !== null && columns.cancelAt === null,
  };
}

function announcedTier(user: User, { endsTrial }: SubscriptionState, now: number) {
  return entitledTier(user, endsTrial ? Math.min(now, user.trialEndsAt! - 1) : now);
}

/**
 * A paid week begins with nothing used, also in the millisecond in which
 * the free one began. Where it ends in a free week, the one that was kept
 * for the number goes on. A plan that is cut off, as by a withdrawal, leaves
 * its week with its count, unless more was used of the kept one: whoever
 * gets the money back has no fresh week.
 */
async function weekAfter(
  { beginsPaidWeek, endsPaidWeek, isCutOff }: StateChange & Pick<SubscriptionState, 'isCutOff'>,
  { weekAnchor = 0, weekFrozen }: Columns,
  { user, settings, now }: OfUser,
) {
  if (beginsPaidWeek) return { weekStart: weekAnchor, used: 0 };
  if (!endsPaidWeek) return {};

  const { phone, weekStart } = user;
  const owner = { phone, settings, now };
  const begun = currentWeek({ weekAnchor, weekFrozen, weekStart }, now);
  const left = await leftWeekOr(owner, { weekAnchor, weekStart: begun });
  if (!isCutOff) return left;

  const used = usedSql(now);
  const stays = and(gt(used, 0), gte(used, left.used));
  return {
    weekAnchor: iif<number>(stays, users.weekAnchor, left.weekAnchor),
    weekStart: iif<number>(stays, users.weekStart, left.weekStart),
    used: iif<number>(stays, users.used, left.used),
  };
}
