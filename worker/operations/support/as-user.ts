import { eq, sql } from 'drizzle-orm';
import { sessions, users } from '#db/schema';
import { sessionToken } from '../../sign-in/session-token.ts';
import { openSession } from '../../accounts/user-session.ts';
import { callApi } from './call-api.ts';
import type { SupportRequest } from './support-command.ts';

type Environment = Pick<SupportRequest, 'db' | 'settings'>;

/** Makes a call as the user, with a session for this call only. */
export async function callAsUser<T>(
  { db, settings }: Environment,
  userId: string,
  method: 'GET' | 'DELETE',
  path: string,
): Promise<T> {
  const [sessionId, now] = [crypto.randomUUID(), Date.now()];
  const [create] = openSession(sessionId, now, sql`from ${users} where ${users.id} = ${userId}`);
  await db.run(create);
  try {
    const token = await sessionToken(settings, { userId, sessionId }, now);
    return await callApi<T>(settings, path, { method, headers: { authorization: `Bearer ${token}` } });
  } finally {
    await db.delete(sessions).where(eq(sessions.id, sessionId));
  }
}
