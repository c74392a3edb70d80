import { and, eq, gt, isNotNull, not, or, type SQL } from 'drizzle-orm';
import {
  chatErasures,
  codes,
  consents,
  customers,
  linkCodes,
  phoneChanges,
  purchaseChoices,
  pushSubscriptions,
  rateLimitEvents,
  sessions,
  trialLinks,
  users,
  withdrawals,
} from '#db/schema';
import type { LeasedCustomer } from '../billing/lease.ts';
import { cancelEvents, queueEvent } from '../bot/outbox.ts';
import { deleteIdentity } from '../identity/identity-conflicts.ts';
import { phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import { fixed, isSame, isTrue, oneRow, rowExists } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import { excluded, isIn } from '../lib/sql.ts';
import { minuteMs } from '../lib/time.ts';
import { transaction, type Transaction } from '../lib/transaction.ts';
import type { Settings } from '../settings.ts';
import { keepWeek } from '../usage/week.ts';
import { openOfSql } from '../withdrawal/statements.ts';
import type { Scope } from '../request-scope.ts';
import { subjectsOfAccount } from './account-export.ts';
import { aliasOfSql, deletionEvent } from './deletion-event.ts';
import { unclosedRow } from './customers-to-close.ts';

const triesAtOnce = 3;

type Wanted = {
  isClosed: boolean;
  /** Somebody may use the account meanwhile. */
  only?: SQL | undefined;
};

/**
 * False if `only` does not hold. Throws 503 if the lease was lost, or the rows
 * of account and number disagree (`deletionEvent`).
 */
export async function deleteRows(
  scope: Scope<'db' | 'settings'>,
  leased: LeasedCustomer,
  wanted: Wanted,
): Promise<boolean> {
  let { phone } = leased.user;
  for (let count = 0; count < triesAtOnce; count += 1) {
    const { outcome, present } = await tryDelete(scope, leased, {
      phone,
      ...wanted,
    });

    switch (outcome) {
      case 'deleted':
      case 'gone':
        return true;
      case 'kept':
        return false;
      case 'lost':
        throw leaseLost();
      case 'renamed':
        // The number has changed since it was read: its kept week must belong to the present one.
        phone = present!;
    }
  }
  throw leaseLost();
}

const leaseLost = () => new RequestError('unavailable', { retryAfter: 1 });

type Deletion = Wanted & { phone: PhoneNumber };

/**
 * The first condition that holds decides:
 *
 * | outcome   | condition                       | `deleteRows`                     | rows        |
 * | --------- | ------------------------------- | -------------------------------- | ----------- |
 * | `lost`    | another call holds the customer | 503                              | none        |
 * | `gone`    | the user is deleted             | true                             | `customers` |
 * | `kept`    | `only` does not hold            | false                            | none        |
 * | `renamed` | number or id have changed since | again, three tries in all, then  | none        |
 * |           | they were read                  | 503                              |             |
 * | `deleted` | none of these                   | true                             | see below   |
 *
 * - `outbox`: waiting events go, `user.deleted` is queued (without a bot it is not)
 * - `left_weeks` keeps the count of a week that has not ended; `chat_erasures` erases a
 *   conversation once more
 * - deleted: `users`; of the account `sessions`, `push_subscriptions`, `phone_changes`,
 *   `trial_links`, `consents`, `aliases`, `claims`, `identity_conflicts` (also those of its id),
 *   its limits, and `purchase_choices`, unless `customers` is left and an open statement of
 *   withdrawal needs them; of the number `codes`, `link_codes` and its limits, without the hard one
 * - `customers` is deleted if it is closed at Stripe, and left otherwise (`unclosedRow`)
 *
 * A second call waits for the lease, and finds no user (401).
 */
async function tryDelete(
  { db, settings }: Scope<'db' | 'settings'>,
  { token, user }: LeasedCustomer,
  { phone, isClosed, only }: Deletion,
) {
  const now = Date.now();
  const own = eq(users.id, user.id);
  const isOwnLease = eq(customers.leaseToken, token);
  const { idMacs, alias, ...event } = await deletionEvent(
    { db, settings },
    { userId: user.id, phone },
  );

  const tx = transaction(db, {
    from: oneRow([customers, isOwnLease], [users, eq(users.id, customers.userId)]),
    facts: {
      isLeased: isNotNull(customers.userId),
      isKnown: isNotNull(users.id),
      isWanted: only ? isTrue(only) : fixed(1),
      isRead: and(eq(users.phone, phone), isSame(aliasOfSql(user.id), alias))!,
    },
    outcomes: ({ isLeased, isKnown, isWanted, isRead }) => ({
      lost: not(isLeased),
      gone: not(isKnown),
      kept: not(isWanted),
      renamed: not(isRead),
    }),
    otherwise: 'deleted',
  });

  // `user.deleted` must not queue behind an event that the bot refuses or cannot receive.
  cancelEvents(tx, ['deleted'], {
    userId: user.id,
    now,
    which: 'all',
  });
  queueEvent(tx, ['deleted'], {
    settings,
    type: 'user.deleted',
    now,
    who: own,
    ...event,
  });
  eraseChat(tx, user.id, now);
  await keepWeek(tx, ['deleted'], { phone, settings, now }, own);
  const counted = await subjectsOf(settings, user.id, phone);
  tx.delete(['deleted'], rateLimitEvents, isIn(rateLimitEvents.subject, counted));
  for (const table of [codes, linkCodes]) tx.delete(['deleted'], table, eq(table.phone, phone));
  for (const table of [phoneChanges, trialLinks, consents, pushSubscriptions, sessions])
    tx.delete(['deleted'], table, eq(table.userId, user.id));
  deleteChoices(tx, user.id, isClosed);
  deleteIdentity(tx, ['deleted'], user.id, idMacs);
  tx.delete(['deleted'], users, own);
  if (isClosed) tx.delete(['deleted', 'gone'], customers, isOwnLease);
  else tx.update(['deleted', 'gone'], customers, unclosedRow, isOwnLease);
  const { outcome, reads } = await tx.run({
    present: db.select({ phone: users.phone }).from(users).where(own),
  });

  return { outcome, present: reads.present[0]?.phone };
}

type Deleting = Transaction<'lost' | 'gone' | 'kept' | 'renamed' | 'deleted', unknown>;

/** An open statement of withdrawal needs the choices: without them the whole price is refunded. */
function deleteChoices(tx: Deleting, userId: string, isClosed: boolean): void {
  const isOpen = rowExists(withdrawals, openOfSql(userId));
  const which = and(eq(purchaseChoices.userId, userId), isClosed ? undefined : not(isOpen))!;
  tx.delete(['deleted'], purchaseChoices, which);
}

/** A message in flight during the deletion is stored within this time. */
const eraseAgainMs = minuteMs;

function eraseChat(tx: Deleting, userId: string, now: number): void {
  const { dueAt } = chatErasures;
  const erasure = {
    userId,
    epoch: null,
    createdAt: now,
    dueAt: now + eraseAgainMs,
  };
  const hadChat = or(gt(users.chatEpoch, 0), isNotNull(users.chatKey));
  tx.insert(['deleted'], chatErasures, erasure, {
    from: users,
    where: and(eq(users.id, userId), hadChat),
    upsert: {
      target: [chatErasures.userId],
      set: { epoch: null, dueAt: excluded(dueAt) },
    },
  });
}

async function subjectsOf(settings: Settings, userId: string, phone: PhoneNumber) {
  const { codesTo, wrongTriesAt } = await phoneSubjects(settings, phone);
  return [...codesTo, ...wrongTriesAt, ...subjectsOfAccount(userId)];
}
