import { eq, sql, type SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { chatErasures, codes, customers, rateLimitEvents, sessions, trialLinks, users } from '#db/schema';
import { excluded, insertSelect, nameOf, build } from '../lib/sql.ts';
import { cancelBotEvents, insertBotEvent } from '../bot/outbox.ts';
import type { Settings } from '../settings.ts';
import { clearPhoneRateLimits, exportSubject } from './rate-limit-subjects.ts';
import { minuteMs } from '../lib/time.ts';

/** A message in flight during the deletion is stored within this time. */
const eraseAgainMs = minuteMs;

/** SQL that queues `user.deleted` for the bot and deletes every row about the user. */
export function deleteUserRows(id: SQL, settings: Settings, now: number): SQL[] {
  const own = sql`from ${users} where ${users.id} = ${id}`;
  const phone = sql`(select ${users.phone} ${own})`;
  const erasure = { userId: sql`${users.id}`, epoch: null, createdAt: now, dueAt: now + eraseAgainMs };
  return [
    // `user.deleted` must not queue behind an event that the bot refuses or cannot receive.
    ...cancelBotEvents(phone, now),
    insertBotEvent(settings, 'user.deleted', now, sql`${users.phone}`, sql`'userId', ${users.id}`, own),
    sql`${insertSelect(chatErasures, erasure, sql`${own} and (${users.chatEpoch} > 0 or ${users.chatKey} is not null)`)}
      on conflict (${nameOf(chatErasures.userId)}) do update set ${nameOf(chatErasures.epoch)} = null,
        ${nameOf(chatErasures.dueAt)} = ${excluded(chatErasures.dueAt)}`,
    deleteFrom(codes, codes.phone, phone),
    clearPhoneRateLimits(phone),
    deleteFrom(rateLimitEvents, rateLimitEvents.subject, sql`${exportSubject('')} || ${id}`),
    deleteFrom(trialLinks, trialLinks.userId, id),
    deleteFrom(sessions, sessions.userId, id),
    deleteFrom(users, users.id, id),
    // Last, since `id` may be read from the lease of this row.
    deleteFrom(customers, customers.userId, id),
  ];
}

function deleteFrom(table: SQLiteTable, column: SQLiteColumn, value: SQL): SQL {
  return build.delete(table).where(eq(column, value)).getSQL();
}
