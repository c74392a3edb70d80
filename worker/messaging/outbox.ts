import { sql, type SQL } from 'drizzle-orm';

/** What the Worker tells the bot. */
export type BotEvent = 'user.approved' | 'user.deleted' | 'plan.changed' | 'platform.changed';

/**
 * SQL that puts an event for the bot beside the change it tells of. `data` is a list of SQL key and value pairs that
 * follow the phone; `from` yields one row when there is something to tell.
 */
export function tellBot(type: BotEvent, now: number, phone: SQL, data: SQL, from: SQL): SQL {
  const body = sql`json_object('type', ${type}, 'timestamp', ${new Date(now).toISOString()},
    'data', json_object('phone', ${phone}, ${data}))`;
  return sql`insert into outbox (phone, body, due_at) select ${phone}, ${body}, ${now} ${from}`;
}
