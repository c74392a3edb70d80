import { sql, type SQL, asc, eq } from 'drizzle-orm';
import { outbox, type User } from '#db/schema';
import type { Settings } from '../settings.ts';
import type { Database } from '../lib/database.ts';

/** The events that hold all their data; `chat.message` points to a message (worker/chat/message-sending.ts). */
export type BotEvent =
  | 'user.approved'
  | 'user.deleted'
  | 'user.unused'
  | 'plan.changed'
  | 'platform.changed'
  | 'chat.cleared'
  | 'chat.consent';

/** The body of an event that was on its way when it was cancelled: only its lease still counts. */
export const cancelledBody = '{}';

/**
 * SQL that removes the undelivered events of a number, all or those of messages. An event in delivery keeps its row
 * until its request ends, because the next event must not overtake it. Its id is free for a message that is sent again.
 */
export function cancelBotEvents(phone: SQL, now: number, which: 'all' | 'messages' = 'all'): SQL[] {
  const own = sql`${outbox.phone} = ${phone}${which === 'all' ? sql`` : sql` and ${outbox.messageId} is not null`}`;
  return [
    sql`delete from ${outbox} where ${own} and ${outbox.leasedUntil} <= ${now}`,
    sql`update ${outbox} set id = 'cancelled_' || seq, body = ${cancelledBody}, message_id = null, due_at = leased_until
      where ${own}`,
  ];
}

/**
 * SQL that inserts an event for the bot in the batch of the change that it reports. `data` lists SQL keys and values
 * after the phone; `from` yields one row if there is something to report. Without a bot it writes nothing.
 */
export function insertBotEvent(
  settings: Pick<Settings, 'BOT_WEBHOOK_URL'>,
  type: BotEvent,
  now: number,
  phone: SQL,
  data: SQL,
  from: SQL,
): SQL {
  const body = sql`json_object('type', ${type}, 'timestamp', ${new Date(now).toISOString()},
    'data', json_object('phone', ${phone}, ${data}))`;
  const event = sql`select ${phone} as phone, ${body} as body, ${now} as created_at, ${now} as due_at ${from}`;
  const hasBot = settings.BOT_WEBHOOK_URL ? sql`` : sql`where false`;
  return sql`insert into outbox (phone, body, created_at, due_at) select * from (${event}) ${hasBot}`;
}

/** The undelivered events about a user. */
export async function exportOutbox({ user, db }: { user: User; db: Database }) {
  const rows = await db
    .select({ body: outbox.body })
    .from(outbox)
    .where(eq(outbox.phone, user.phone))
    .orderBy(asc(outbox.seq));
  return { eventsForTheBot: rows.map(({ body }): unknown => JSON.parse(body)) };
}
