import type { Stripe } from 'stripe';
import { desc, eq } from 'drizzle-orm';
import { customers, users, withdrawals, type Withdrawal } from '#db/schema';
import type { EnvScope } from '../env.ts';
import { ownCustomer, requireKnown } from '../billing/customer.ts';
import { pauseAfter } from '../billing/sync-times.ts';
import { stopCollecting } from '../billing/invoices.ts';
import {
  withLease,
  type Customer,
  type LeasedCustomer,
  type LeaseResult,
} from '../billing/lease.ts';
import { isRefusal, unlessMissing, unlessRefused, withStripe } from '../billing/stripe-client.ts';
import { cancelNow, isLive } from '../billing/subscriptions.ts';
import { syncLeased } from '../billing/sync.ts';
import type { Database } from '../lib/database.ts';
import { describeError, log } from '../lib/log.ts';
import { dayMs } from '../lib/time.ts';
import { leaveUntold } from './objection.ts';
import { billedTo, paymentsOf } from './payments.ts';
import { refundPayment, worstOf, type State } from './refunds.ts';
import { nameContract, type Begun } from './stated-contract.ts';
import { insertRefundedEventSql } from './statement-events.ts';
import {
  accountUnknown,
  dueStatements,
  endRepeated,
  openOfSql,
  overdueStatements,
  statementUnderWay,
  updateUnderWay,
} from './statements.ts';

/*
 * What a statement of withdrawal causes, each step repeatable:
 *
 *   received ──> the subscription ends, no invoice is collected any more ──> a credit note for each payment
 *      refunding    a refund is on its way, and may still come back
 *      done         every refund has arrived
 *      needs_owner  Stripe or a bank refuses: a person has to pay (`npm run support -- withdrawals`)
 *
 * The cron job repeats an interrupted one. A credit note carries the statement's id, so that none is made twice.
 */

type Settled = State & { refund: number };

/** A refund by card may come back within this time. */
const refundWatchMs = 30 * dayMs;
const statementsPerRun = 20;

/** Each holds its customer's lease, so that nothing else charges meanwhile. */
export async function settleWithdrawals(scope: EnvScope, now: number): Promise<void> {
  await leaveUntold(scope.db, now);
  const due = await dueStatements(scope.db, now, statementsPerRun);
  for (const statement of due)
    await settleOne(scope, statement, now).catch((error: unknown) =>
      log('error', 'withdrawal_postponed', {
        id: statement.id,
        ...describeError(error),
      }),
    );
}

export async function reviewWithdrawals(db: Database, now: number): Promise<void> {
  const statements = await overdueStatements(db, now);
  if (statements.length === 0) return;
  log('error', 'withdrawal_overdue', { statements, action: lookAtIt });
}

async function settleOne(scope: EnvScope, statement: Withdrawal, now: number): Promise<void> {
  const isPostponed = await postpone(scope, statement, now);
  if (!isPostponed) return;

  const { id, userId } = statement;
  const isOfUser = userId !== null && (await isUser(scope, userId));
  if (isOfUser) await withLease(scope, userId, (leased) => settleAsItIs(scope, leased, id));
  else await endWithoutAccount(scope, statement);
}

/**
 * What was paid back before the account was deleted stays so; its refund
 * cannot be looked at any more. A customer that was left is closed after
 * its statements were settled.
 */
async function endWithoutAccount(scope: EnvScope, { id, userId }: Withdrawal): Promise<void> {
  if (userId !== null && (await isCustomer(scope, userId))) return;

  // Whoever closed the customer has settled it.
  const statement = await statementUnderWay(scope.db, id);
  if (!statement) return;

  const { subscription, state } = statement;
  const isSettled = subscription !== null && state !== 'received';
  if (isSettled) await updateUnderWay(scope.db, id, { dueAt: null });
  else await needsOwner(scope, statement, accountUnknown);
}

/** Until the lease is held, its person may object, or the owner take it over. */
async function settleAsItIs(
  scope: EnvScope,
  leased: LeasedCustomer,
  id: string,
): Promise<LeaseResult<unknown>> {
  const statement = await statementUnderWay(scope.db, id);
  return statement ? settleStatement(scope, leased, statement) : { result: null };
}

/**
 * Ends the contract of a statement and gives the money back; returns
 * the statement as it is then. Throws 503; then call it again.
 */
export async function settleStatement(
  scope: EnvScope,
  leased: LeasedCustomer,
  statement: Withdrawal,
): Promise<LeaseResult<Withdrawal>> {
  const settled = await settleAtStripe(scope, leased.customer, statement);
  const { result: _, ...released } = await syncLeased(scope, leased);
  return { result: settled, ...released };
}

async function settleAtStripe(
  scope: EnvScope,
  customer: Customer,
  statement: Withdrawal,
): Promise<Withdrawal> {
  const { stripeId, userId } = customer;
  if (!stripeId) return needsOwner(scope, statement, 'customer_unknown');

  return withStripe(scope.settings, async (stripe) => {
    await ownCustomer(stripe, { customer, user: { id: userId } });
    const named = { statement, stripeId, userId };
    const begun = await nameContract(stripe, scope, named);
    if (!begun) {
      await requireKnown(stripe, stripeId);
      return needsOwner(scope, statement, 'no_contract');
    }
    return save(scope, begun.statement, await workAtStripe(stripe, begun, customer));
  });
}

/**
 * Without its customer at Stripe, a statement could not be settled: its
 * closing waits for that. Throws 503. What Stripe refuses for good is left
 * to the owner.
 */
export async function settleBeforeClosing(scope: EnvScope, customer: Customer): Promise<void> {
  const open = await scope.db
    .select()
    .from(withdrawals)
    .where(openOfSql(customer.userId))
    .orderBy(desc(withdrawals.seq));
  for (const statement of open)
    await settleAtStripe(scope, customer, statement).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
      return needsOwner(scope, statement, 'refused');
    });
}

async function workAtStripe(
  stripe: Stripe,
  { statement, terms, at }: Begun,
  { stripeId, attempt }: Customer,
): Promise<Settled> {
  const { subscription } = terms;
  await endSubscription(stripe, subscription, stripeId!);
  const billed = await billedTo(stripe, { subscription, customer: stripeId! });
  const payments = paymentsOf(billed, terms, at);

  const states: State[] = [];
  let refund = 0;
  for (const payment of payments) {
    const cause = { withdrawal: statement.id, attempt };
    const returned = await refundPayment(stripe, cause, payment);
    refund += returned.amount;
    states.push(returned);
  }

  return { ...worstOf(states), refund };
}

/** Open checkouts would begin a new one. */
async function endSubscription(stripe: Stripe, id: string, customer: string): Promise<void> {
  const { data: sessions } = await stripe.checkout.sessions.list({
    customer,
    status: 'open',
    limit: 100,
  });
  for (const session of sessions) await unlessRefused(stripe.checkout.sessions.expire(session.id));

  const subscription = await unlessMissing(stripe.subscriptions.retrieve(id));
  if (!subscription) return;
  if (isLive(subscription) || subscription.status === 'incomplete')
    await cancelNow(stripe, subscription);
  await stopCollecting(stripe, subscription);
}

/** The bot is told once that the money is on its way. */
async function save(
  { db, settings }: EnvScope,
  statement: Withdrawal,
  { state, reason, refund }: Settled,
): Promise<Withdrawal> {
  const now = Date.now();
  const isReturned = state !== 'needs_owner' && refund > 0;
  const changes = {
    refund,
    state,
    reason,
    dueAt: nextLook(statement, state, now),
    attempts: 0,
    ...(isReturned && { announcedAt: statement.announcedAt ?? now }),
  };

  const after: Withdrawal = { ...statement, ...changes };
  const event = insertRefundedEventSql(settings, after, now);
  const update = updateUnderWay(db, statement.id, changes);

  // A later look says nothing about statements made since.
  const others = statement.state === 'received' ? [endRepeated(db, statement)] : [];
  if (isReturned) await db.batch([db.run(event), update, ...others]);
  else await db.batch([update, ...others]);

  if (state === 'needs_owner') logNeedsOwner(statement, reason);
  return after;
}

/** A refund may come back. */
function nextLook({ submittedAt }: Withdrawal, state: Withdrawal['state'], now: number) {
  if (state === 'needs_owner') return null;
  return now < submittedAt + refundWatchMs ? now + dayMs : null;
}

async function needsOwner({ db }: EnvScope, statement: Withdrawal, reason: string) {
  const changes = {
    state: 'needs_owner',
    reason,
    dueAt: null,
  } as const;
  await updateUnderWay(db, statement.id, changes);
  logNeedsOwner(statement, reason);
  return { ...statement, ...changes };
}

const lookAtIt = 'Look at `npm run support -- withdrawals`: the law gives 14 days.';

export function logNeedsOwner({ id }: Pick<Withdrawal, 'id'>, reason: string | null): void {
  log('error', 'withdrawal_needs_owner', { id, reason, action: lookAtIt });
}

/** False if it was stopped meanwhile. */
async function postpone(
  { db }: EnvScope,
  { id, attempts }: Withdrawal,
  now: number,
): Promise<boolean> {
  const dueAt = now + Math.max(pauseAfter(attempts + 1), 1000);
  const { rowsAffected } = await updateUnderWay(db, id, {
    attempts: attempts + 1,
    dueAt,
  });
  return rowsAffected > 0;
}

async function isCustomer({ db }: EnvScope, userId: string): Promise<boolean> {
  const found = await db
    .select({ userId: customers.userId })
    .from(customers)
    .where(eq(customers.userId, userId));
  return found.length > 0;
}

async function isUser({ db }: EnvScope, userId: string): Promise<boolean> {
  const found = await db.select({ id: users.id }).from(users).where(eq(users.id, userId));
  return found.length > 0;
}
