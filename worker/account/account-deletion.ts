import { and, asc, eq, inArray, lte, type SQL } from 'drizzle-orm';
import { customers, users } from '#db/schema';
import { closeCustomers, closeUnclosedCustomer } from '../billing/close-customers.ts';
import { CustomerUnknown } from '../billing/customer.ts';
import { withLease, type Customer, type LeasedCustomer } from '../billing/lease.ts';
import { isDenial, withStripe } from '../billing/stripe-client.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import type { Database } from '../lib/database.ts';
import { coalesce, plus } from '../lib/expressions.ts';
import { describeError, log } from '../lib/log.ts';
import { dayMs, minuteMs } from '../lib/time.ts';
import { endStreams, expectEnd, liveUserOf } from '../live/publish.ts';
import { settleBeforeClosing } from '../withdrawal/settlement.ts';
import type { EnvScope } from '../env.ts';
import { deleteRows } from './delete-rows.ts';
import { deleteUnclosed, howToClose, isUnclosedSql } from './customers-to-close.ts';

type DeletionOptions = {
  seen?: { until: number }[];
  only?: SQL;
  /** Whether nobody waits for the result: a deletion that fails stays begun. */
  isResumed?: boolean;
};

/**
 * Deletes an account and cancels its subscription; returns whether `only`
 * held. If Stripe does not respond, throws 503 and the account stays. If Stripe
 * refuses to end a subscription, or refuses our key, the account is deleted all
 * the same: its row in `customers` stays, and `closeUnclosedCustomers` tries again.
 * If the Worker is killed during a deletion that a person asked for,
 * `resumeDeletions` finishes it. The rows: `tryDelete`.
 */
export function deleteAccount(
  scope: EnvScope,
  userId: string,
  { seen, only, isResumed = false }: DeletionOptions = {},
): Promise<boolean> {
  const { db } = scope;
  return withLease(
    scope,
    userId,
    async (leased) => {
      if (only && !(await isTrueOf(db, userId, only))) return { result: false };
      try {
        const isDeleted = await deleteLeased(scope, leased, only);
        return isDeleted ? { result: true, released: true } : { result: false };
      } catch (error) {
        if (!only && !isResumed)
          await db.update(customers).set({ deletionBeganAt: null }).where(heldBy(leased));
        throw error;
      }
    },
    { ...(!only && { changes: begun() }), ...(seen && { seen }) },
  );
}

const begun = () => ({ deletionBeganAt: coalesce<number>(customers.deletionBeganAt, Date.now()) });

const heldBy = ({ token }: LeasedCustomer) => eq(customers.leaseToken, token);

async function deleteLeased(
  scope: EnvScope,
  leased: LeasedCustomer,
  only: SQL | undefined,
): Promise<boolean> {
  const { db, env, settings, waitUntil } = scope;
  const { customer, user } = leased;

  const isClosed = await closeAtStripe(scope, leased);
  if (!isClosed) logUnclosed(customer.stripeId);

  expectEnd({ env, waitUntil }, user.id);
  const isDeleted = await deleteRows({ db, settings }, leased, { isClosed, only });
  if (!isDeleted) return false;

  if (user.chatEpoch > 0 || user.chatKey) waitUntil(liveUserOf(env, user.id).erase());
  endStreams({ env, waitUntil }, user.id, null);
  waitUntil(deliverSoon(db, settings, user.id));
  return true;
}

function closeAtStripe(scope: EnvScope, leased: LeasedCustomer): Promise<boolean> {
  return closeSettled(scope, leased.customer, async () => {
    const { stripeId, stripeAsked } = leased.customer;
    if (!stripeId && !stripeAsked) return true;
    return withStripe(scope.settings, (stripe) => closeCustomers(stripe, leased));
  });
}

/** False if Stripe refuses our key or does not know the customer. */
async function closeSettled(
  scope: EnvScope,
  customer: Customer,
  close: () => Promise<boolean>,
): Promise<boolean> {
  try {
    await settleBeforeClosing(scope, customer);
    return await close();
  } catch (error) {
    if (isDenial(error) || error instanceof CustomerUnknown) return false;
    throw error;
  }
}

/** A call and its work after the response end within this time (ms). */
const cutOffAfterMs = 2 * minuteMs;
const resumedPerRun = 20;

export async function resumeDeletions(scope: EnvScope, now: number): Promise<void> {
  const begun = await scope.db
    .select({ userId: customers.userId })
    .from(customers)
    .where(lte(customers.deletionBeganAt, now - cutOffAfterMs))
    .orderBy(asc(customers.deletionBeganAt))
    .limit(resumedPerRun);
  for (const { userId } of begun)
    await deleteAccount(scope, userId, { isResumed: true }).catch((error: unknown) =>
      log('error', 'task_failed', {
        task: 'resumeDeletions',
        ...describeError(error),
      }),
    );
}

async function isTrueOf(db: Database, userId: string, condition: SQL): Promise<boolean> {
  const found = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), condition));
  return found.length > 0;
}

const unclosedPerRun = 50;
const closeAgainMs = dayMs;

export async function closeUnclosedCustomers(scope: EnvScope, now: number): Promise<void> {
  const { db, settings } = scope;
  for (let count = 0; count < unclosedPerRun; count += 1) {
    const customer = await nextUnclosed(db, now);
    if (!customer) return;

    const isClosed = await closeSettled(scope, customer, () =>
      withStripe(settings, (stripe) => closeUnclosedCustomer(stripe, customer)),
    );
    if (isClosed) await deleteUnclosed(db, customer.userId);
    else logUnclosed(customer.stripeId);
  }
}

async function nextUnclosed(db: Database, now: number): Promise<Customer | undefined> {
  const { userId, leaseUntil } = customers;
  const next = db
    .select({ userId })
    .from(customers)
    .where(and(isUnclosedSql, lte(leaseUntil, now)))
    .orderBy(asc(leaseUntil))
    .limit(1);
  const [unclosed] = await db
    .update(customers)
    // Stripe may have stored the last failure (`lease.ts`).
    .set({ leaseUntil: now + closeAgainMs, attempt: plus(customers.attempt, 1) })
    .where(inArray(userId, next))
    .returning();
  return unclosed;
}

function logUnclosed(customer: string | null): void {
  log('error', 'customer_unclosed', { customer, action: howToClose });
}
