import { eq, sql } from 'drizzle-orm';
import { sessions } from '#db/schema';
import { openSession, sessionToken } from '../auth/session.ts';
import type { Opened } from './open-user.ts';

/**
 * Deletes an account by the very call that its user would make, under a session of our own: Stripe first, then the rows,
 * then the bot and the open streams. Ends with a sentence when the Worker refuses; the account then stays.
 */
export async function eraseThroughFrontDoor({ user, db, settings }: Opened): Promise<void> {
  const [sessionId, now] = [crypto.randomUUID(), Date.now()];
  await db.run(openSession(sessionId, now, sql`from users u where u.id = ${user.id}`));
  try {
    const token = await sessionToken(settings, { userId: user.id, sessionId }, now);
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${settings.SITE_URL}/api/user/me`, { method: 'DELETE', headers });
    if (answer.ok) return;
    const { message = '' } = (await answer.json().catch(() => ({}))) as { message?: string };
    throw new Error(`The account stays: ${settings.SITE_URL} answered ${answer.status}. ${message}`);
  } finally {
    await db.delete(sessions).where(eq(sessions.id, sessionId));
  }
}
