import { and, asc, eq, lte, sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import {
  chatErasures,
  codes,
  customers,
  pushSubscriptions,
  rateLimitEvents,
  sessions,
  trialLinks,
  users,
  linkCodes,
  phoneChanges,
  purchaseChoices,
} from '#db/schema';
import { closeCustomers, closeLeftCustomer } from '../billing/customer.ts';
import {
  billingCallSubject,
  billingPageSubject,
  cancelReasonSubject,
  withdrawalSubject,
} from '../billing/page-limits.ts';
import { withLease, type LeasedCustomer } from '../billing/lease.ts';
import { isDenial, withStripe } from '../billing/stripe-client.ts';
import { deliverSoon } from '../bot/deliver-outbox.ts';
import { sealData } from '../bot/event-data.ts';
import { cancelBotEvents, insertBotEvent, newEventId } from '../bot/outbox.ts';
import type { Env } from '../env.ts';
import type { Database } from '../lib/database.ts';
import { excluded, insertSelect, nameOf, build } from '../lib/sql.ts';
import { isOwnAlias } from '../lib/bindings.ts';
import { describeError, log } from '../lib/log.ts';
import { RequestError } from '../lib/request-error.ts';
import { minuteMs } from '../lib/time.ts';
import { areValid, type Settings } from '../settings.ts';
import { endStreams, expectEnd, liveUserOf } from '../live/publish.ts';
import { settleBeforeDeletion } from '../withdrawal/settlement.ts';
import { keepWeek } from '../usage/week.ts';
import { deleteIdentity, namesOf } from '../identity/identity.ts';
import { exportSubject } from './account-export.ts';
import { phoneChangeSubject } from './phone-change.ts';
import { clearPhoneRateLimits, type PhoneNumber } from '../identity/phone.ts';

/** A message in flight during the deletion is stored within this time. */
const eraseAgainMs = minuteMs;

type Context = {
  db: Database;
  env: Env;
  settings: Settings;
  waitUntil: (work: Promise<unknown>) => void;
};
type Options = {
  seen?: { until: number }[];
  /** A condition on `users`; where it no longer holds, nothing is deleted. */
  only?: SQL;
  /** Whether nobody waits for the result: a deletion that fails stays begun. */
  isResumed?: boolean;
};

/**
 * Deletes an account and cancels its subscription; returns whether `only` held. Throws 503 unless Stripe responds; then
 * the account stays. What Stripe refuses to end keeps nobody: the customer's row stays, and `closeLeftCustomers`
 * repeats it. One that is cut off stays begun, and `resumeDeletions` goes on with it.
 */
export function deleteAccount(
  context: Context,
  userId: string,
  { seen, only, isResumed = false }: Options = {},
): Promise<boolean> {
  const { db } = context;
  return withLease(
    context,
    userId,
    async (leased) => {
      if (only && !(await isTrueOf(db, userId, only)))
        return { result: false, changes: { leavingAt: null } };
      try {
        await deleteLeased(context, leased);
      } catch (error) {
        if (!isResumed) await db.update(customers).set({ leavingAt: null }).where(heldBy(leased));
        throw error;
      }
      return { result: true, released: true };
    },
    {
      changes: { leavingAt: sql`coalesce(${customers.leavingAt}, ${Date.now()})` },
      ...(seen && { seen }),
    },
  );
}

const heldBy = ({ token }: LeasedCustomer) => eq(customers.leaseToken, token);

async function deleteLeased(context: Context, leased: LeasedCustomer): Promise<void> {
  const { db, env, settings, waitUntil } = context;
  const { customer, user } = leased;
  const isClosed = await closeAtStripe(context, leased);
  if (!isClosed) logUnclosed(customer.stripeId);
  expectEnd({ env, waitUntil }, user.id);
  await deleteRows(db, settings, leased, isClosed);
  if (user.chatEpoch > 0 || user.chatKey) waitUntil(liveUserOf(env, user.id).erase());
  endStreams({ env, waitUntil }, user.id, null);
  waitUntil(deliverSoon(db, settings, user.id));
}

/** False if Stripe refuses to end something, or refuses us: nobody stays for the sake of our own key. */
async function closeAtStripe(context: Context, leased: LeasedCustomer): Promise<boolean> {
  const { settings } = context;
  const { stripeId, stripeAsked } = leased.customer;
  const hasCustomer = stripeId !== null || stripeAsked;
  if (hasCustomer && !areValid(settings, 'STRIPE_API_BASE', 'STRIPE_SECRET_KEY')) return false;
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

/** Goes on with deletions whose Worker was ended meanwhile. */
export async function resumeDeletions(context: Context, now: number): Promise<void> {
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

const triesAtOnce = 3;

/** What the bot learns of a deleted account; the id by which WhatsApp names the person goes with the account. */
async function namesToErase(
  { db, settings }: Pick<Context, 'db' | 'settings'>,
  userId: string,
  phone: PhoneNumber,
) {
  const names = await namesOf(db, userId);
  const alias = names.find(({ kind }) => kind === 'business');
  const isOwn = alias && (await isOwnAlias(settings, { ...alias, phone }));
  return { userId, phone, ...(isOwn && { businessUserId: alias.value }) };
}

/** What is counted by the id of an account, and goes with it. */
const countedSubjects = [
  billingPageSubject(''),
  billingCallSubject(''),
  cancelReasonSubject(''),
  withdrawalSubject(''),
];

/** Deletes every row about the leased customer's user. Throws 503 if the lease was lost: its next holder may charge. */
async function deleteRows(
  db: Database,
  settings: Settings,
  { token, user }: LeasedCustomer,
  isClosed: boolean,
): Promise<void> {
  let phone: PhoneNumber | undefined = user.phone;
  for (let count = 0; phone !== undefined && count < triesAtOnce; count += 1) {
    const { deleted, present } = await tryDelete(db, settings, token, {
      userId: user.id,
      phone,
      isClosed,
    });
    if (deleted) return;
    // The number has changed meanwhile: what is kept by its hash belongs to the present one.
    phone = present;
  }
  throw new RequestError('unavailable', { retryAfter: 1 });
}

async function tryDelete(
  db: Database,
  settings: Settings,
  token: string,
  { userId, phone: named, isClosed }: { userId: string; phone: PhoneNumber; isClosed: boolean },
) {
  const now = Date.now();
  const leased = sql`select ${users.id} from ${users} join ${customers} on ${customers.userId} = ${users.id}
    where ${customers.leaseToken} = ${token}`;
  const id = sql`(${leased} and ${users.phone} = ${named})`;
  const own = sql`from ${users} where ${users.id} = ${id}`;
  const phone = sql`(select ${users.phone} ${own})`;
  const type = 'user.deleted';
  const names = await namesToErase({ db, settings }, userId, named);
  const eventId = newEventId();
  const sealed = await sealData(settings, { type, userId }, { ...names, eventId });
  const erasure = {
    userId: sql`${users.id}`,
    epoch: null,
    createdAt: now,
    dueAt: now + eraseAgainMs,
  };
  const statements = [
    // `user.deleted` must not queue behind an event that the bot refuses or cannot receive.
    ...cancelBotEvents(id, now),
    insertBotEvent(
      settings,
      type,
      now,
      sql`${users.phone}`,
      sql`'sealed', ${sealed}`,
      own,
      eventId,
    ),
    sql`${insertSelect(chatErasures, erasure, sql`${own} and (${users.chatEpoch} > 0 or ${users.chatKey} is not null)`)}
      on conflict (${nameOf(chatErasures.userId)}) do update set ${nameOf(chatErasures.epoch)} = null,
        ${nameOf(chatErasures.dueAt)} = ${excluded(chatErasures.dueAt)}`,
    await keepWeek(named, settings, now, own),
    deleteFrom(codes, codes.phone, phone),
    await clearPhoneRateLimits(settings, named, sql`exists (select 1 ${own})`),
    deleteFrom(rateLimitEvents, rateLimitEvents.subject, sql`${exportSubject('')} || ${id}`),
    deleteFrom(rateLimitEvents, rateLimitEvents.subject, sql`${phoneChangeSubject('')} || ${id}`),
    ...countedSubjects.map((prefix) =>
      deleteFrom(rateLimitEvents, rateLimitEvents.subject, sql`${prefix} || ${id}`),
    ),
    deleteFrom(phoneChanges, phoneChanges.userId, id),
    deleteFrom(linkCodes, linkCodes.phone, phone),
    deleteFrom(trialLinks, trialLinks.userId, id),
    deleteFrom(purchaseChoices, purchaseChoices.userId, id),
    deleteFrom(pushSubscriptions, pushSubscriptions.userId, id),
    deleteFrom(sessions, sessions.userId, id),
    ...deleteIdentity(id),
    deleteFrom(users, users.id, id),
  ].map((statement) => db.run(statement));
  const present = db
    .select({ phone: users.phone })
    .from(users)
    .innerJoin(customers, eq(customers.userId, users.id))
    .where(eq(customers.leaseToken, token));
  // The customer's row goes last, since the other statements find the user by its lease.
  const isLeft = and(eq(customers.leaseToken, token), sql`not exists (${leased})`);
  const last = isClosed
    ? db.delete(customers).where(isLeft)
    : db.update(customers).set(parked).where(isLeft);
  const results = await db.batch([statements[0]!, ...statements.slice(1), present, last]);
  const [[user], { rowsAffected }] = results.slice(-2) as [
    { phone: PhoneNumber }[],
    { rowsAffected: number },
  ];
  return { deleted: rowsAffected > 0, present: user?.phone };
}

/** Later than any due date, so that only `closeLeftCustomers` finds the row. */
const leftDueAt = Number.MAX_SAFE_INTEGER;
const parked = {
  dueAt: leftDueAt,
  leavingAt: null,
  leaseToken: null,
  leaseUntil: 0,
  setupSession: null,
};
const leftPerRun = 50;

/** Ends at Stripe what it refused to end when an account was deleted. */
export async function closeLeftCustomers({ db, settings }: Context): Promise<void> {
  const isLeft = sql`${customers.dueAt} = ${leftDueAt}`;
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

function deleteFrom(table: SQLiteTable, column: SQLiteColumn, value: SQL): SQL {
  return build.delete(table).where(eq(column, value)).getSQL();
}
