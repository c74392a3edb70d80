import { and, sql, type SQL } from 'drizzle-orm';
import { rateLimitEvents } from '#db/schema';
import { build, type Value } from '../lib/sql.ts';
import type { PhoneNumber } from './phone.ts';

/** Prefixes of the rate-limit subjects of a phone number. */
export const phoneSubjects = { codesTo: 'codes:', wrongTriesAt: 'wrong-tries:' } as const;

/** The rate-limit subject of a user's exports. */
export const exportSubject = (userId: string) => `exports:${userId}`;

/** SQL that removes every rate-limit event of a number, where the condition holds. */
export function clearPhoneRateLimits(phone: Value<PhoneNumber> | SQL, when?: SQL): SQL {
  const subjects = Object.values(phoneSubjects).map((prefix) => sql`${prefix} || ${phone}`);
  const own = sql`${rateLimitEvents.subject} in (${sql.join(subjects, sql`, `)})`;
  return build.delete(rateLimitEvents).where(and(own, when)).getSQL();
}
