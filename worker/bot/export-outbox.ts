import { asc, eq } from 'drizzle-orm';
import { outbox, type User } from '#db/schema';
import type { Database } from '../lib/database.ts';

/** The undelivered events about a user. */
export async function exportOutbox({ user, db }: { user: User; db: Database }) {
  const rows = await db
    .select({ body: outbox.body })
    .from(outbox)
    .where(eq(outbox.phone, user.phone))
    .orderBy(asc(outbox.seq));
  return { eventsForTheBot: rows.map(({ body }): unknown => JSON.parse(body)) };
}
