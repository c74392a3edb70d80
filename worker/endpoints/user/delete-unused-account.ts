import { eq, sql, type SQL } from 'drizzle-orm';
import { sessions, users } from '#db/schema';
import type { BaseContext } from '../../http/request-context.ts';
import { openSession } from '../../accounts/open-session.ts';
import { UserSession } from '../../accounts/user-session.ts';
import { deleteMe } from './delete-me.ts';

type Context = Pick<BaseContext, 'db' | 'env' | 'settings' | 'now' | 'waitUntil'>;

/** Deletes an account through the user's own handler, with a session that is valid only if the condition holds. */
export async function deleteUnusedAccount(context: Context, userId: string, unused: SQL): Promise<void> {
  const { db, settings, now } = context;
  const sessionId = crypto.randomUUID();
  const [create] = openSession(sessionId, now, sql`from ${users} where ${unused}`);
  await db.run(create);
  try {
    const session = new UserSession({ userId, sessionId }, context, true);
    const request = new Request(settings.SITE_URL);
    await deleteMe({
      ...context,
      session,
      request,
      address: 'cron',
      input: undefined,
      query: undefined,
      params: undefined,
    });
  } finally {
    await db.delete(sessions).where(eq(sessions.id, sessionId));
  }
}
