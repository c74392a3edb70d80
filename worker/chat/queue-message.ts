import { sql, type SQL } from 'drizzle-orm';
import { entitledTierSql, fitsLimitSql } from '../usage/entitlement.ts';
import { currentWeekSql } from '../usage/week.ts';
import { leaseMs, type OutboxEvent } from '../bot/deliver-outbox.ts';

type Pointer = {
  /** SQL: the user's id if the session is live, else null. */
  userId: SQL;
  /** The user's id by the token. */
  claimedUserId: string;
  messageId: string;
  locale: string | null;
  country: string | null;
  /** The maximum number of a user's messages that wait for the bot. */
  mostWaiting: number;
  now: number;
};

export type QueuedPointer = OutboxEvent & { leasedUntil: number };

/** The messages that waited for the bot before this one was queued: others of the user, and this one itself. */
export type Waiting = { others: number; same: number };

/** SQL for one row of `Waiting`; says nothing about whether the session is live. */
export function countWaiting(claimedUserId: string, messageId: string): SQL {
  const phone = sql`(select phone from users where id = ${claimedUserId})`;
  return sql`select ${othersWaiting(phone, messageId)} as others,
    exists (select 1 from outbox where id = ${eventId(claimedUserId, messageId)} and parked_at is null) as same`;
}

function othersWaiting(phone: SQL, messageId: string): SQL {
  return sql`(select count(*) from outbox where phone = ${phone} and message_id <> ${messageId} and parked_at is null)`;
}

function eventId(userId: string, messageId: string): string {
  return `chat_${userId}_${messageId}`;
}

/**
 * SQL that puts the event of a message into the outbox if consent, allowance and limits allow it. A message has one
 * event; a parked one is sent again. This request gets the lease if no event of the number precedes it.
 */
export function queueMessage(pointer: Pointer): SQL {
  const { userId, claimedUserId, messageId, locale, country, mostWaiting, now } = pointer;
  const week = currentWeekSql(now);
  const used = sql`(case when week_start = ${week} then used else 0 end)`;
  const allowed = sql`(${fitsLimitSql(sql`${used} + 1`, entitledTierSql(now))} or crisis_until > ${now})`;
  const data = sql`json_object('phone', phone, 'userId', users.id, 'messageId', ${messageId}, 'locale', ${locale},
    'country', ${country})`;
  const body = sql`json_object('type', 'chat.message', 'timestamp', ${new Date(now).toISOString()}, 'data', ${data})`;
  const leasedUntil = sql`case when exists (select 1 from outbox earlier
    where earlier.phone = users.phone and earlier.parked_at is null) then 0 else ${now + leaseMs} end`;
  return sql`insert into outbox (id, phone, body, message_id, created_at, due_at, leased_until, attempts)
    select ${eventId(claimedUserId, messageId)}, phone, ${body}, ${messageId}, ${now}, ${now}, ${leasedUntil}, 1
    from users where users.id = ${userId} and chat_key is not null and ${allowed}
      and ${othersWaiting(sql`users.phone`, messageId)} < ${mostWaiting}
    on conflict (id) do update set created_at = ${now}, parked_at = null,
      attempts = case when parked_at is null then attempts else 1 end,
      due_at = case when parked_at is null then due_at else ${now} end,
      leased_until = case when parked_at is null then leased_until else excluded.leased_until end
    returning seq, id, phone, body, attempts, message_id as messageId, created_at as createdAt,
      leased_until as leasedUntil`;
}
