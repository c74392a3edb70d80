import { and, asc, eq, lte, type SQL } from 'drizzle-orm';
import { customers, users } from '#db/schema';
import { closeCustomers, closeLeftCustomer } from '../billing/close-customers.ts';
import { withLease, type LeasedCustomer } from '../billing/lease.ts';
import { isDenial, withStripe } from '../billing/stripe-client.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import type { Database } from '../lib/database.ts';
import { coalesce } from '../lib/expressions.ts';
import { describeError, log } from '../lib/log.ts';
import { minuteMs } from '../lib/time.ts';
import { endStreams, expectEnd, liveUserOf } from '../live/publish.ts';
import { settleBeforeDeletion } from '../withdrawal/settlement.ts';
import type { Background } from '../env.ts';
import { deleteRows, leftDueAt } from './delete-rows.ts';

type Options = {
  seen?: { until: number }[];
  /** A condition on `users`; where it no longer holds, no row is deleted. */
  only?: SQL;
  /** Whether nobody waits for the result: a deletion that fails stays begun. */
  isResumed?: boolean;
};

/**
 * Deletes an account and cancels its subscription; returns whether `only`
 * held. Throws 503 unless Stripe responds; then the account stays. What
 * Stripe refuses to end keeps nobody: the customer's row stays, and
 * `closeLeftCustomers` repeats it. One that its person has asked for and
 * that is cut off stays begun, and `resumeDeletions` goes on with it.
 */
export function deleteAccount(
  context: Background,
  userId: string,
  { seen, only, isResumed = false }: Options = {},
): Promise<boolean> {
  const { db } = context;
  return withLease(
    context,
    userId,
    async (leased) => {
      if (only && !(await isTrueOf(db, userId, only))) return { result: false };
      try {
        const isDeleted = await deleteLeased(context, leased, only);
        return isDeleted ? { result: true, released: true } : { result: false };
      } catch (error) {
        if (!only && !isResumed)
          await db.update(customers).set({ leavingAt: null }).where(heldBy(leased));
        throw error;
      }
    },
    { ...(!only && { changes: begun() }), ...(seen && { seen }) },
  );
}

const begun = () => ({ leavingAt: coalesce<number>(customers.leavingAt, Date.now()) });

const heldBy = ({ token }: LeasedCustomer) => eq(customers.leaseToken, token);

async function deleteLeased(
  context: Background,
  leased: LeasedCustomer,
  only: SQL | undefined,
): Promise<boolean> {
  const { db, env, settings, waitUntil } = context;
  const { customer, user } = leased;
  const isClosed = await closeAtStripe(context, leased);
  if (!isClosed) logUnclosed(customer.stripeId);
  expectEnd({ env, waitUntil }, user.id);
  const isDeleted = await deleteRows({ db, settings }, leased, { isClosed, only });
  if (!isDeleted) return false;

  if (user.chatEpoch > 0 || user.chatKey) waitUntil(liveUserOf(env, user.id).erase());
  endStreams({ env, waitUntil }, user.id, null);
  waitUntil(deliverSoon(db, settings, user.id));
  return true;
}

/** False if Stripe refuses, also our own key: nobody stays for its sake. */
async function closeAtStripe(context: Background, leased: LeasedCustomer): Promise<boolean> {
  const { settings } = context;
  const { stripeId, stripeAsked } = leased.customer;
  const hasCustomer = stripeId !== null || stripeAsked;
  if (hasCustomer && !settings.isRight('STRIPE_API_BASE', 'STRIPE_SECRET_KEY')) return false;
  try {
    await settleBeforeDeletion(context, leased);
    return !hasCustomer || (await withStripe(settings, (stripe) => closeCustomers(stripe, leased)));
  } catch (error) {
    if (isDenial(error)) return false;
    throw error;
  }
}

/** A call and its work after the response end within this time (ms). */
const cutOffAfterMs = 2 * minuteMs;
const resumedPerRun = 20;

export async function resumeDeletions(context: Background, now: number): Promise<void> {
  const begun = await context.db
    .select({ userId: customers.userId })
    .from(customers)
    .where(lte(customers.leavingAt, now - cutOffAfterMs))
    .orderBy(asc(customers.leavingAt))
    .limit(resumedPerRun);
  for (const { userId } of begun)
    await deleteAccount(context, userId, { isResumed: true }).catch((error: unknown) =>
      log('error', 'task_failed', { task: 'resumeDeletions', ...describeError(error) }),
    );
}

async function isTrueOf(db: Database, userId: string, condition: SQL): Promise<boolean> {
  const found = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.id, userId), condition));
  return found.length > 0;
}

const leftPerRun = 50;

export async function closeLeftCustomers({ db, settings }: Background): Promise<void> {
  const isLeft = eq(customers.dueAt, leftDueAt);
  const left = await db.select().from(customers).where(isLeft).limit(leftPerRun);
  for (const customer of left) {
    const own = and(isLeft, eq(customers.userId, customer.userId));
    const isClosed = await withStripe(settings, (stripe) => closeLeftCustomer(stripe, customer));
    if (isClosed) await db.delete(customers).where(own);
    else logUnclosed(customer.stripeId);
  }
}

function logUnclosed(customer: string | null): void {
  const action = 'End its subscriptions in the Stripe Dashboard, and delete the customer.';
  log('error', 'customer_unclosed', { customer, action });
}
