import * as v from 'valibot';
import { type PhoneNumber, rateLimitEvents } from '#db/schema';
import { Phone } from '../contract/schemas.ts';
import { and, sql, type SQL } from 'drizzle-orm';
import { build, type Value } from '../lib/sql.ts';

export type { PhoneNumber } from '#db/schema';

/**
 * The canonical spelling: the only one that is stored and compared. WhatsApp writes Mexican and Argentinian numbers
 * with an extra digit after the country code, and Brazilian mobiles with or without their ninth digit.
 */
export function canonicalPhone(phone: string): PhoneNumber {
  return canonicalSpelling(phone) as PhoneNumber;
}

/** Whether WhatsApp's id (digits only) is a spelling of the number. */
export function isSpellingOf(phone: PhoneNumber, whatsappId: string): boolean {
  return canonicalPhone(`+${whatsappId}`) === phone;
}

/** An international number in any spelling; its output is canonical. For numbers that enter outside a request body. */
export const CanonicalPhone = v.pipe(Phone, v.transform(canonicalPhone));

function canonicalSpelling(phone: string): string {
  const mexico = /^\+521(\d{10})$/.exec(phone);
  if (mexico) return `+52${mexico[1]}`;
  const argentina = /^\+549(\d{10})$/.exec(phone);
  if (argentina) return `+54${argentina[1]}`;
  const brazil = /^\+55([1-9]\d)([6-9]\d{7})$/.exec(phone);
  if (brazil) return `+55${brazil[1]}9${brazil[2]}`;
  return phone;
}

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
