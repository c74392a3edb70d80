import { and, desc, eq, inArray, ne } from 'drizzle-orm';
import { claims, codes, linkCodes, phoneChanges, rateLimitEvents, sessions } from '#db/schema';
import { phoneSubjects } from '../identity/phone.ts';
import type { ExportSection } from '../identity/user-record.ts';
import { batch } from '../lib/database.ts';
import { sql } from '../lib/sql-text.ts';
import { newestCode } from './stored-codes.ts';

export const exportSignIn: ExportSection = async ({ user: { id, phone }, db, settings }) => {
  const { createdAt, lastSeenAt, expiresAt, device } = sessions;
  const { codesTo, wrongTriesAt, everyCodeTo } = await phoneSubjects(settings, phone);
  const { subject } = rateLimitEvents;
  return batch(db, {
    sessions: db
      .select({ createdAt, lastSeenAt, expiresAt, device })
      .from(sessions)
      .where(eq(sessions.userId, id))
      .orderBy(desc(createdAt)),
    code: db
      .select({ expiresAt: codes.expiresAt, triesLeft: codes.triesLeft })
      .from(codes)
      .where(and(eq(codes.phone, phone), eq(codes.challenge, newestCode))),
    codesWithChallenge: db
      .select({
        sentAt: codes.sentAt,
        expiresAt: codes.expiresAt,
        triesLeft: codes.triesLeft,
      })
      .from(codes)
      .where(and(eq(codes.phone, phone), ne(codes.challenge, newestCode))),
    phoneChanges: db
      .select({
        phone: phoneChanges.phone,
        expiresAt: phoneChanges.expiresAt,
        triesLeft: phoneChanges.triesLeft,
      })
      .from(phoneChanges)
      .where(eq(phoneChanges.userId, id)),
    linkCodes: db
      .select({ language: linkCodes.language, expiresAt: linkCodes.expiresAt })
      .from(linkCodes)
      .where(eq(linkCodes.phone, phone)),
    claims: db
      .select({ expiresAt: claims.expiresAt, provenAt: claims.provenAt })
      .from(claims)
      .where(eq(claims.userId, id)),
    limits: db
      .select({
        what: sql<string>`substr(${subject}, 1, instr(${subject}, ':') - 1)`,
        at: rateLimitEvents.at,
      })
      .from(rateLimitEvents)
      .where(inArray(subject, [...codesTo, ...wrongTriesAt])),
    codesOfTheDay: db
      .select({ at: rateLimitEvents.at })
      .from(rateLimitEvents)
      .where(inArray(subject, everyCodeTo)),
  });
};
