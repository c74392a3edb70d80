import { sql } from 'drizzle-orm';
import type { PhoneNumber } from '#db/schema';
import type { Database } from '../../lib/database.ts';

/** An event that the bot refused for good; instants in unix ms. */
export type ParkedEvent = { seq: number; type: string; phone: PhoneNumber; attempts: number; parkedAt: number };

/** The parked events, oldest first, without the text of messages. */
export async function parkedEvents(db: Database, most = 100): Promise<ParkedEvent[]> {
  return db.all<ParkedEvent>(sql`select seq, body ->> 'type' as type, phone, attempts, parked_at as parkedAt
    from outbox where parked_at is not null order by parked_at limit ${most}`);
}

/**
 * Sends a parked event again with the next minute's cron job; returns whether it exists. A chat message is
 * sent although its user has seen that it failed.
 */
export async function retryParked(db: Database, seq: number, now: number): Promise<boolean> {
  const { rowsAffected } = await db.run(sql`update outbox set parked_at = null, attempts = 0, due_at = ${now},
    created_at = ${now}, leased_until = 0,
    body = case when message_id is null then body else json_set(body, '$.data.retried', json('true')) end
    where seq = ${seq} and parked_at is not null`);
  return rowsAffected > 0;
}

/** Removes a parked event; returns whether it existed. */
export async function dropParked(db: Database, seq: number): Promise<boolean> {
  const { rowsAffected } = await db.run(sql`delete from outbox where seq = ${seq} and parked_at is not null`);
  return rowsAffected > 0;
}
