import { and, desc, eq, inArray, ne } from 'drizzle-orm';
import { claims, codes, linkCodes, phoneChanges, rateLimitEvents, sessions } from '#db/schema';
import { phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import type { ExportSection } from '../identity/user-record.ts';
import { batch, type Database } from '../lib/database.ts';
import type { Subject } from '../lib/rate-limits.ts';
import { sql } from '../lib/sql-text.ts';
import { newestCode } from './stored-codes.ts';

export const exportSignIn: ExportSection = async ({ user: { id, phone }, db, settings }) => {
  const { codesTo, wrongTriesAt, everyCodeTo } = await phoneSubjects(settings, phone);
  return batch(db, {
    sessions: sessionsOf(db, id),
    code: codesOf(db, phone, eq),
    codesWithChallenge: codesOf(db, phone, ne),
    phoneChanges: phoneChangesOf(db, id),
    linkCodes: linkCodesOf(db, phone),
    claims: claimsOf(db, id),
    limits: limitEventsOf(db, [...codesTo, ...wrongTriesAt]),
    codesOfTheDay: codesOfTheDayOf(db, everyCodeTo),
  });
};

function sessionsOf(db: Database, userId: string) {
  const { createdAt, lastSeenAt, expiresAt, device } = sessions;
  return db
    .select({ createdAt, lastSeenAt, expiresAt, device })
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(createdAt));
}

function codesOf(db: Database, phone: PhoneNumber, isWanted: typeof eq) {
  const { sentAt, expiresAt, triesLeft } = codes;
  return db
    .select({ sentAt, expiresAt, triesLeft })
    .from(codes)
    .where(and(eq(codes.phone, phone), isWanted(codes.challenge, newestCode)));
}

function phoneChangesOf(db: Database, userId: string) {
  const { phone, expiresAt, triesLeft } = phoneChanges;
  return db
    .select({ phone, expiresAt, triesLeft })
    .from(phoneChanges)
    .where(eq(phoneChanges.userId, userId));
}

function linkCodesOf(db: Database, phone: PhoneNumber) {
  const { language, expiresAt } = linkCodes;
  return db
    .select({
      language,
      expiresAt,
    })
    .from(linkCodes)
    .where(eq(linkCodes.phone, phone));
}

function claimsOf(db: Database, userId: string) {
  const { expiresAt, provenAt } = claims;
  return db
    .select({
      expiresAt,
      provenAt,
    })
    .from(claims)
    .where(eq(claims.userId, userId));
}

function limitEventsOf(db: Database, subjects: Subject) {
  const { subject, at } = rateLimitEvents;
  return db
    .select({
      what: sql<string>`substr(${subject}, 1, instr(${subject}, ':') - 1)`,
      at,
    })
    .from(rateLimitEvents)
    .where(inArray(subject, subjects));
}

function codesOfTheDayOf(db: Database, everyCodeTo: Subject) {
  const { subject, at } = rateLimitEvents;
  return db.select({ at }).from(rateLimitEvents).where(inArray(subject, everyCodeTo));
}
