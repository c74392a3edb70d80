import { desc, eq, inArray } from 'drizzle-orm';
import { codes, rateLimitEvents, sessions } from '#db/schema';
import type { ExportSection } from '../accounts/user.ts';
import { subjects } from './issue-code.ts';

export const exportSignIn: ExportSection = async ({ user: { id, phone }, db }) => {
  const { createdAt, lastSeenAt, expiresAt } = sessions;
  const counted = [subjects.codesTo(phone), subjects.wrongTriesAt(phone)];
  const [openSessions, code, limits] = await db.batch([
    db
      .select({ createdAt, lastSeenAt, expiresAt })
      .from(sessions)
      .where(eq(sessions.userId, id))
      .orderBy(desc(createdAt)),
    db.select({ expiresAt: codes.expiresAt, triesLeft: codes.triesLeft }).from(codes).where(eq(codes.phone, phone)),
    db
      .select({ what: rateLimitEvents.subject, at: rateLimitEvents.at })
      .from(rateLimitEvents)
      .where(inArray(rateLimitEvents.subject, counted)),
  ]);
  return { sessions: openSessions, code, limits };
};
