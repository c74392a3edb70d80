import { and, eq, gt, isNotNull, isNull, not, or } from 'drizzle-orm';
import { users, withdrawals } from '#db/schema';
import { mayQueueSql, queueEvent } from '../bot/outbox.ts';
import type { Language } from '../contract/languages.ts';
import { userOfSql } from '../identity/aliases.ts';
import { networkOf } from '../lib/caller.ts';
import { keyedHashes } from '../lib/crypto.ts';
import type { Database } from '../lib/database.ts';
import { fixed, rowExists } from '../lib/expressions.ts';
import {
  allowedAtSql,
  hashedSubject,
  type Limited,
  recordEvents,
  subjectsIn,
} from '../lib/rate-limits.ts';
import { rateLimited } from '../lib/request-error.ts';
import { dayMs } from '../lib/time.ts';
import { transaction } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import type { Settings } from '../settings.ts';
import type { Scope } from '../request-scope.ts';
import { objectionUntil } from './objection.ts';
import { strangersMail } from './queue-receipt-mail.ts';
import { reportWaiting } from './receipt-mail-limits.ts';
import { queuedMail } from './receipt-mail.ts';
import { receiptText, type Stated } from './receipt.ts';
import { receivedEvent } from './statement-events.ts';
import {
  accountUnknown,
  type Recorded,
  objected,
  waitingPublicOfSql,
  unsettled,
} from './statements.ts';

/** SQL: it could still be withdrawn, in any zone. */
const objectionOfSql = (userId: string | null, settings: Settings, now: number) =>
  and(
    eq(withdrawals.userId, sql.param(userId)),
    eq(withdrawals.reason, objected),
    gt(withdrawals.submittedAt, now - (settings.require('WITHDRAWAL_DAYS') + 2) * dayMs),
  );

type PublicStatement = {
  name: string;
  contact: string;
  plan: string | null;
  email: string | null;
  language: Language;
  phone: string | null;
};

const toldLimits = [{ most: 3, per: dayMs }];

/**
 * Keeps anybody's statement and matches it by number; says nothing about accounts. The first
 * condition that holds decides:
 *
 * | outcome     | condition                | who acts                 | rows                      |
 * | ----------- | ------------------------ | ------------------------ | ------------------------- |
 * | `limited`   | the address, or of IPv6  | nobody                   | none                      |
 * |             | its network, stated too  |                          |                           |
 * |             | often (429)              |                          |                           |
 * | `unmatched` | the number has no        | the owner, at once       | statement: `needs_owner`  |
 * |             | account                  |                          |                           |
 * | `untold`    | another statement of the | its person, or the owner | statement, never due      |
 * |             | account waits, its       |                          |                           |
 * |             | person has objected or   |                          |                           |
 * |             | was told three times in  |                          |                           |
 * |             | a day, or cannot be told |                          |                           |
 * | `told`      | none of these            | its person, who is told; | statement, due after the  |
 * |             |                          | it takes effect          | time to object;           |
 * |             |                          |                          | `withdrawal.received` in  |
 * |             |                          |                          | `outbox`; an event of the |
 * |             |                          |                          | person                    |
 *
 * A statement is a row of `withdrawals`, one of `receipt_mails` if a receipt can be mailed, and
 * a row of `rate_limit_events` for the address, and of IPv6 one for its network. Each call makes
 * one of its own; of parallel ones about an account one is `told`.
 */
export async function recordPublicStatement(
  { db, settings, address, now }: Scope<'db' | 'settings' | 'address' | 'now'>,
  { phone, ...statement }: PublicStatement,
): Promise<Recorded> {
  const id = crypto.randomUUID();
  const about = phone ?? statement.contact;
  const { callers, told } = await limitsOf(settings, { address, about });
  const mail = await strangersMail(settings, {
    id,
    email: statement.email,
    now,
    address,
  });

  const userId = await userIdOf(db, phone);
  const stated: Stated = {
    ...unsettled,
    ...statement,
    id,
    userId,
    origin: 'public',
    submittedAt: now,
    keptUntil: now + settings.require('WITHDRAWAL_KEPT_DAYS') * dayMs,
  };

  const { seq: _, ...row } = {
    ...stated,
    receipt: receiptText(settings, stated),
  };
  const toldUntil = objectionUntil(row);
  const event = await receivedEvent(settings, { seq: 0, ...row, dueAt: toldUntil }, now);

  const tx = decideStatement(
    { db, settings, now },
    {
      userId,
      event,
      callers,
      told,
    },
  );

  const accepted = ['unmatched', 'untold', 'told'] as const;
  const ofOwner = { state: 'needs_owner', reason: accountUnknown } as const;
  tx.insert(['unmatched'], withdrawals, { ...row, ...ofOwner });
  tx.insert(['untold'], withdrawals, { ...row, dueAt: null });
  tx.insert(['told'], withdrawals, { ...row, dueAt: toldUntil });
  queueEvent(tx, ['told'], event);
  recordEvents(tx, accepted, subjectsIn(callers), { now });
  recordEvents(tx, ['told'], [told.subject], { now });
  mail?.queue(tx, accepted);

  const kept = db.select().from(withdrawals).where(eq(withdrawals.id, id));
  const { outcome, facts, reads } = await tx.run({
    kept,
    queued: queuedMail(db, mail),
  });

  if (outcome === 'limited') throw rateLimited(facts.mayStateAt, now);

  const [queued] = reads.queued;
  reportWaiting(queued, now);
  return { statement: reads.kept[0]!, mail: queued };
}

type Considered = {
  userId: string | null;
  event: Awaited<ReturnType<typeof receivedEvent>>;
  callers: Limited[];
  told: Limited;
};

function decideStatement(
  { db, settings, now }: Scope<'db' | 'settings' | 'now'>,
  { userId, event, callers, told }: Considered,
) {
  return transaction(db, {
    facts: {
      mayStateAt: allowedAtSql(callers),
      mayTellAt: allowedAtSql([told]),
      canTell: rowExists(
        users,
        mayQueueSql({
          ...event,
          who: eq(users.id, sql.param(userId)),
        }),
      ),
      hasObjected: rowExists(withdrawals, objectionOfSql(userId, settings, now)),
      othersWait: rowExists(
        withdrawals,
        and(waitingPublicOfSql(userId), isNotNull(withdrawals.dueAt)),
      ),
    },

    outcomes: ({ mayStateAt, mayTellAt, canTell, hasObjected, othersWait }) => ({
      limited: gt(mayStateAt, now),
      unmatched: isNull(fixed(userId)),
      untold: or(othersWait, hasObjected, gt(mayTellAt, now), not(canTell)),
    }),
    otherwise: 'told',
  });
}

/** A network may state so many times as often as one of its addresses. */
const addressesOfNetwork = 5;

async function limitsOf(
  settings: Settings,
  { address, about }: { address: string; about: string },
): Promise<{ callers: Limited[]; told: Limited }> {
  const limits = settings.require('LIMIT_STATEMENTS_PER_ADDRESS');
  const hashesOf = (of: string) => keyedHashes(settings.CODE_PEPPER, 'limit', of);
  const network = networkOf(address);
  const [caller, callersNetwork, person] = await Promise.all([
    hashesOf(address),
    network ? hashesOf(network) : null,
    hashesOf(about),
  ]);

  const ofNetwork = limits.map(({ most, per }) => ({
    most: most * addressesOfNetwork,
    per,
  }));
  const callers = [{ subject: hashedSubject('statement', caller), limits }];
  if (callersNetwork)
    callers.push({
      subject: hashedSubject('statement', callersNetwork),
      limits: ofNetwork,
    });
  return {
    callers,
    told: {
      subject: hashedSubject('statement-told', person),
      limits: toldLimits,
    },
  };
}

async function userIdOf(db: Database, phone: string | null): Promise<string | null> {
  if (phone === null) return null;
  const [user] = await db.select({ id: userOfSql('phone', phone) }).from(sql`(select 1)`);
  return user?.id ?? null;
}
