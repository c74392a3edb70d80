import { and, asc, eq, isNotNull, isNull, lte, sql, type SQL } from 'drizzle-orm';
import { aliases, outbox, users, type PhoneNumber, type User } from '#db/schema';
import type { Database } from '../lib/database.ts';
import { build, insertSelect } from '../lib/sql.ts';
import type { Settings } from '../settings.ts';

/** Of these, only the newest that waits is worth sending. */
type ReplaceableEvent = 'platform.changed' | 'chat.consent' | 'chat.cleared';

/** The events that hold all their data. */
export type BotEvent =
  | ReplaceableEvent
  | 'user.approved'
  | 'user.deleted'
  | 'user.phone_changed'
  | 'user.unused'
  | 'plan.changed'
  | 'withdrawal.received'
  | 'withdrawal.refunded';

/**
 * `chat.message` points to a message of the conversation
 * (worker/chat/message-queue.ts).
 */
export type EventType = BotEvent | 'chat.message';

/** The events whose data names the account by its id. */
const namingUser = new Set<string>([
  'chat.message',
  'chat.cleared',
  'chat.consent',
  'user.deleted',
  'user.unused',
] satisfies EventType[]);

/**
 * A row of the outbox that is in delivery. Number and ids are those of the account now,
 * never those of the body.
 */
export type OutboxEvent = {
  seq: number;
  id: string;
  /** Null in an event of a deleted account that waited for the owner. */
  userId: string | null;
  phone: PhoneNumber;
  hasAccount: boolean;
  businessUserId: string | null;
  body: string;
  attempts: number;
  messageId: string | null;
  createdAt: number;
};

type Stored = { type: EventType; timestamp: string; data: Record<string, unknown> };

/**
 * The body of an event that was on its way when it was cancelled: only its lease still
 * counts.
 */
export const cancelledBody = '{}';

/** Events beside messages that may wait for one account. */
const mostWaiting = 50;

/**
 * The columns of `OutboxEvent`, for the `returning` of a statement that writes the
 * outbox.
 */
export function eventColumns() {
  const phone = build.select({ phone: users.phone }).from(users).where(eq(users.id, outbox.userId));
  const business = build
    .select({ value: aliases.value })
    .from(aliases)
    .where(and(eq(aliases.userId, outbox.userId), eq(aliases.kind, 'business')));
  return {
    seq: outbox.seq,
    id: outbox.id,
    userId: outbox.userId,
    phone: sql<PhoneNumber>`coalesce(${phone}, ${outbox.phone})`,
    hasAccount: sql<boolean>`${phone} is not null`.mapWith(Boolean),
    businessUserId: sql<string | null>`${business}`,
    body: outbox.body,
    attempts: outbox.attempts,
    messageId: outbox.messageId,
    createdAt: outbox.createdAt,
  };
}

export function isCancelled({ body }: Pick<OutboxEvent, 'body'>): boolean {
  return body === cancelledBody;
}

export function storedOf({ body }: Pick<OutboxEvent, 'body'>): Stored {
  return JSON.parse(body);
}

/** The body that the bot receives: what is stored, `more`, and about whom it is. */
export function bodyFor(event: OutboxEvent, more: Record<string, unknown> = {}): string {
  const { type, timestamp, data } = storedOf(event);
  const { phone } = event;
  const { userId: storedUserId, phone: _, businessUserId: storedBusinessId, ...rest } = data;
  // The account of a deletion is gone, so that its body alone has the business id; if
  // the owner sends it again, the sealed body alone names the account.
  const isDeletion = type === 'user.deleted';
  const userId = isDeletion ? (event.userId ?? storedUserId) : event.userId;
  const businessUserId = isDeletion ? (storedBusinessId ?? null) : event.businessUserId;
  return JSON.stringify({
    type,
    timestamp,
    data: {
      ...rest,
      ...more,
      phone,
      ...(namingUser.has(type) && { userId }),
      ...(businessUserId !== null && { businessUserId }),
    },
  });
}

type NewEvent<Type extends BotEvent> = [
  settings: Pick<Settings, 'BOT_WEBHOOK_URL'>,
  type: Type,
  now: number,
  /**
   * Kept for the owner's commands, and for a deletion, whose account is gone when it is
   * sent.
   */
  phone: SQL,
  /** SQL keys and values of the event's own data. */
  data: SQL,
  /** Rows of `users`, one for each event. */
  from: SQL,
];

/**
 * SQL that queues an event for each row of `from`, unless too many of that account wait
 * already.
 */
export function insertBotEvent(...event: NewEvent<Exclude<BotEvent, ReplaceableEvent>>): SQL {
  return queueSql(...event);
}

/**
 * SQL that queues an event in place of those of its type that wait; one in delivery
 * stays, so that none overtakes it.
 */
export function replaceBotEvent(...event: NewEvent<ReplaceableEvent>): [SQL, SQL] {
  const [, type, now, , , from] = event;
  const waiting = and(
    sql`${outbox.userId} in (select ${users.id} ${from})`,
    isNull(outbox.parkedAt),
    lte(outbox.leasedUntil, now),
    sql`${outbox.body} ->> '$.type' = ${type}`,
  );
  return [build.delete(outbox).where(waiting).getSQL(), queueSql(...event)];
}

function queueSql(...[settings, type, now, phone, data, from]: NewEvent<BotEvent>): SQL {
  const timestamp = new Date(now).toISOString();
  const body = sql`json_object('type', ${type}, 'timestamp', ${timestamp}, 'data', json_object(${data}))`;
  const event = sql`select ${users.id} as userId, ${phone} as phone, ${body} as body ${from}`;
  const waiting = build
    .select({ seq: outbox.seq })
    .from(outbox)
    .where(
      and(sql`${outbox.userId} = event.userId`, isNull(outbox.messageId), isNull(outbox.parkedAt)),
    )
    .limit(mostWaiting);
  const hasBot = settings.BOT_WEBHOOK_URL ? sql`true` : sql`false`;
  return insertSelect(
    outbox,
    { userId: sql`userId`, phone: sql`phone`, body: sql`body`, createdAt: now, dueAt: now },
    sql`from (${event}) event
      where ${hasBot} and (select count(*) from ${waiting}) < ${sql.raw(String(mostWaiting))}`,
  );
}

/**
 * SQL that removes undelivered events about a user. One in delivery keeps its row, so
 * that none overtakes it.
 */
export function cancelBotEvents(
  userId: SQL,
  now: number,
  which: 'all' | 'messages' = 'all',
): SQL[] {
  const kind = which === 'all' ? undefined : isNotNull(outbox.messageId);
  const own = and(sql`${outbox.userId} = ${userId}`, kind);
  const cancelled = {
    id: sql`'cancelled_' || ${outbox.seq}`,
    body: cancelledBody,
    messageId: null,
    dueAt: sql`${outbox.leasedUntil}`,
  };
  return [
    build
      .delete(outbox)
      .where(and(own, lte(outbox.leasedUntil, now)))
      .getSQL(),
    build.update(outbox).set(cancelled).where(own).getSQL(),
  ];
}

export async function exportOutbox({ user, db }: { user: User; db: Database }) {
  const rows = await db
    .select({ body: outbox.body })
    .from(outbox)
    .where(eq(outbox.userId, user.id))
    .orderBy(asc(outbox.seq));
  return { eventsForTheBot: rows.map(storedOf) };
}
