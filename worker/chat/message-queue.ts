import { and, count, eq, exists, gte, isNotNull, isNull, ne, not, or } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { outbox, users } from '#db/schema';
import { leaseMs } from '../bot/outbox-statements.ts';
import { eventColumns } from '../bot/outbox.ts';
import type { Language } from '../contract/languages.ts';
import { admittedUserSql, type SessionCaller } from '../identity/user-session.ts';
import { fixed, greatest, iif, isTrue, plus } from '../lib/expressions.ts';
import { build, excluded, madeOnce } from '../lib/sql.ts';
import { outcomeSql } from '../lib/transaction.ts';
import { sql } from '../lib/sql-text.ts';
import { entitledTierSql, fitsAllowanceSql, voiceSql } from '../usage/allowance.ts';
import { usedSql } from '../usage/week.ts';
import { eventId, type EventBefore } from './message-event.ts';

/**
 * Queues a message for the bot. Only one row is written, its event in `outbox`, so the decision
 * needs no row of its own: each statement computes it in a common table expression. The first
 * condition that holds decides:
 *
 * | outcome          | condition                 | response         | rows                      |
 * | ---------------- | ------------------------- | ---------------- | ------------------------- |
 * | `consentNeeded`  | no consent                | 403              | none                      |
 * | `voiceNotInPlan` | a recording, and no plan  | 403              | none                      |
 * |                  | for it                    |                  |                           |
 * | `allowanceSpent` | a week that is used up,   | 403              | none                      |
 * |                  | outside a crisis          |                  |                           |
 * | `rateLimited`    | `mostWaiting` other       | 429              | none                      |
 * |                  | messages wait (in a       |                  |                           |
 * |                  | crisis: for a recording   |                  |                           |
 * |                  | alone)                    |                  |                           |
 * | `queued`         | no event of this message  | see `sendQueued` | its event                 |
 * | `queued`         | its event, parked         | see `sendQueued` | the event is due again    |
 * | `queued`         | its event, waiting        | see `sendQueued` | `created_at` of the event |
 * |                  |                           |                  | alone                     |
 *
 * A session that may not send gets no row, and writes none.
 *
 * The last row is a repeated or parallel request: whoever was first has inserted the event,
 * and can no longer take it back (`unqueue`), since this request relies on it. Of a message that
 * is stored already, and has not failed, `sendQueued` returns it instead of a refusal.
 */
export type QueueOutcome =
  | 'consentNeeded'
  | 'voiceNotInPlan'
  | 'allowanceSpent'
  | 'rateLimited'
  | 'queued';

export type Queueing = SessionCaller & {
  messageId: string;
  kind: 'text' | 'voice';
  locale: Language;
  country: string | null;
  mostWaiting: number;
};

export type QueueDecision = EventBefore & { outcome: QueueOutcome };

/** The statements of one transaction: the decision, and its effect. */
export function queueMessage(message: Queueing, inCrisis = false) {
  const { kind, messageId, userId, now } = message;
  const values = {
    ...message,
    isSpoken: Number(kind === 'voice'),
    inCrisis: Number(inCrisis),
    eventId: eventId(userId, messageId),
    body: bodyOf(message),
    leasedUntil: now + leaseMs,
  };
  return [readDecision(values), insertEvent(values)] as const;
}

const value = sql.placeholder;
const flag = (name: string) => sql`${value(name)}`;
const isSpokenSql = flag('isSpoken');
const inCrisisSql = flag('inCrisis');
const nowValue = value('now');

const ownEvent = alias(outbox, 'own');
const waiting = alias(outbox, 'waiting');
const isTheirs = and(eq(waiting.userId, users.id), isNull(waiting.parkedAt));
const anyWaiting = build.select({ seq: waiting.seq }).from(waiting).where(isTheirs);
const others = build
  .select({ count: count() })
  .from(waiting)
  .where(and(isTheirs, ne(waiting.messageId, value('messageId'))));

const callerId = admittedUserSql({
  sessionId: value('sessionId'),
  userId: value('userId'),
  now: nowValue,
  whilePending: value('whilePending'),
  needsSignIn: value('needsSignIn'),
  limitedMacs: value('limitedMacs'),
});

/** The facts: one row, or none if the session may not send. */
const sender = build.$with('sender').as(
  build
    .select({
      id: users.id,
      phone: users.phone,
      chatKey: users.chatKey,
      tier: entitledTierSql(nowValue).as('tier_now'),
      used: usedSql(nowValue).as('used_now'),
      others: sql<number>`${others}`.as('others'),
      hasWaiting: isTrue(exists(anyWaiting)).as('has_waiting'),
    })
    .from(users)
    .where(eq(users.id, callerId)),
);

/** The order is that in which a person should learn of the reasons. */
const outcome = outcomeSql<QueueOutcome>(
  {
    consentNeeded: isNull(sender.chatKey),
    voiceNotInPlan: and(isSpokenSql, not(voiceSql(sender.tier))),
    allowanceSpent: and(not(inCrisisSql), not(fitsAllowanceSql(plus(sender.used, 1), sender.tier))),
    rateLimited: and(or(not(inCrisisSql), isSpokenSql), gte(sender.others, value('mostWaiting'))),
  },
  'queued',
);

const decision = build.$with('decision').as(
  build
    .with(sender)
    .select({
      id: sender.id,
      phone: sender.phone,
      hasWaiting: sender.hasWaiting,
      outcome: outcome.as('outcome'),
    })
    .from(sender),
);

const readDecision = madeOnce(
  build
    .with(decision)
    .select({
      outcome: decision.outcome,
      ownsEvent: isTrue(or(isNull(ownEvent.id), isNotNull(ownEvent.parkedAt))).mapWith(Boolean),
      parkedSince: ownEvent.parkedAt,
      parkedAttempts: ownEvent.attempts,
      parkedCreatedAt: ownEvent.createdAt,
    })
    .from(decision)
    .leftJoin(ownEvent, eq(ownEvent.id, value('eventId'))),
);

/** Leased to this request if no other event of the user waits. */
const newEvent = build
  // All columns, in the order of the table: drizzle requires it.
  .select({
    seq: fixed(null).as('seq'),
    id: fixed(value('eventId')).as('id'),
    userId: decision.id,
    phone: decision.phone,
    body: fixed(value('body')).as('body'),
    messageId: fixed(value('messageId')).as('message_id'),
    createdAt: fixed(nowValue).as('created_at'),
    // Counted, although nobody makes it yet if other events wait.
    attempts: fixed(1).as('attempts'),
    dueAt: fixed(nowValue).as('due_at'),
    leasedUntil: iif<number>(decision.hasWaiting, 0, value('leasedUntil')).as('leased_until'),
    parkedAt: fixed(null).as('parked_at'),
  })
  .from(decision)
  .where(eq(decision.outcome, 'queued'));

const isParked = isNotNull(outbox.parkedAt);

const insertEvent = madeOnce(
  build
    .with(decision)
    .insert(outbox)
    .select(newEvent as never)
    .onConflictDoUpdate({
      target: outbox.id,
      set: {
        // `unqueue` tells two requests of one millisecond apart by it.
        createdAt: greatest(plus(outbox.createdAt, 1), nowValue),
        parkedAt: null,
        attempts: iif(isParked, 1, outbox.attempts),
        dueAt: iif(isParked, nowValue, outbox.dueAt),
        leasedUntil: iif(isParked, excluded(outbox.leasedUntil), outbox.leasedUntil),
      },
    })
    .returning({ ...eventColumns(), leasedUntil: outbox.leasedUntil }),
);

/** The text is read from the conversation when it is sent. */
function bodyOf({ messageId, locale, country, now }: Queueing): string {
  const timestamp = new Date(now).toISOString();
  return JSON.stringify({
    type: 'chat.message',
    timestamp,
    data: { messageId, locale, country },
  });
}
