import * as v from 'valibot';
import { type PhoneNumber, rateLimitEvents } from '#db/schema';
import { mayHoldTrunkPrefix, numberingPlans } from '../contract/numbering-plans.ts';
import { type NumberingPlans, readPhone } from '../contract/pasted.ts';
import { Phone } from '../contract/schemas.ts';
import { inArray, type SQL } from 'drizzle-orm';
import { keyedHashes } from '../lib/crypto.ts';
import { hashedSubject } from '../lib/rate-limits.ts';
import { build } from '../lib/sql.ts';
import type { Peppers } from '../lib/secrets.ts';

export type { PhoneNumber } from '#db/schema';

/** It may break the rule of `Phone`. */
export async function readPastedPhone(pasted: string): Promise<string> {
  const phone = readPhone(pasted);
  return mayHoldTrunkPrefix(phone) ? readPhone(pasted, await loadPlans()) : phone;
}

/** Evaluated by the first number that needs them. */
let plans: NumberingPlans | undefined;

async function loadPlans(): Promise<NumberingPlans> {
  if (plans) return plans;
  const { default: parse, PhoneNumber: Described } = await import('libphonenumber-js/core');
  const { default: metadata } = await import('libphonenumber-js/min/metadata');
  plans = numberingPlans({
    parse: (phone) => parse(phone, metadata),
    describe: (phone) => new Described(phone, metadata),
  });
  return plans;
}

/**
 * The only spelling that is stored: WhatsApp adds or drops
 * digits in Mexico, Argentina and Brazil, and Benin and
 * Côte d'Ivoire have put digits before their old numbers.
 */
export function canonicalPhone(phone: string): PhoneNumber {
  return canonicalSpelling(phone) as PhoneNumber;
}

export function isSpellingOf(phone: PhoneNumber, whatsappId: string): boolean {
  return canonicalPhone(`+${whatsappId}`) === phone;
}

/**
 * Where a number's codes go. A database that somebody
 * else can write must not lead them to another phone.
 */
export function ownSpelling(phone: PhoneNumber, whatsappId: string | null): string {
  return whatsappId !== null && isSpellingOf(phone, whatsappId) ? whatsappId : phone.slice(1);
}

/** For numbers that enter outside a request body. */
export const CanonicalPhone = v.pipe(Phone, v.transform(canonicalPhone));

function canonicalSpelling(phone: string): string {
  const mexico = /^\+521(\d{10})$/.exec(phone);
  if (mexico) return `+52${mexico[1]}`;

  const argentina = /^\+549(\d{10})$/.exec(phone);
  if (argentina) return `+54${argentina[1]}`;

  const brazil = /^\+55([1-9]\d)([6-9]\d{7})$/.exec(phone);
  if (brazil) return `+55${brazil[1]}9${brazil[2]}`;

  const benin = /^\+229(\d{8})$/.exec(phone);
  if (benin) return `+22901${benin[1]}`;

  const ivoryCoast = /^\+225(\d{8})$/.exec(phone);
  if (ivoryCoast) return `+225${ivorianOperator(ivoryCoast[1]!)}${ivoryCoast[1]}`;

  return phone;
}

/** By the old number's third digit (2021). */
function ivorianOperator(old: string): string {
  const isLandline = /^[23]/.test(old);
  if (isLandline) return { 0: '25', 8: '21' }[old[2]!] ?? '27';
  const [, second = ''] = old;
  if (second <= '3') return '01';
  return second <= '6' ? '05' : '07';
}

export async function phoneSubjects({ CODE_PEPPER }: Peppers, phone: PhoneNumber) {
  const hashes = await keyedHashes(CODE_PEPPER, 'limit', phone);
  return {
    everyCodeTo: hashedSubject('every-code', hashes),
    codesTo: hashedSubject('codes', hashes),
    wrongTriesAt: hashedSubject('wrong-tries', hashes),
  };
}

export async function clearPhoneRateLimitsSql(peppers: Peppers, phone: PhoneNumber): Promise<SQL> {
  const { codesTo, wrongTriesAt } = await phoneSubjects(peppers, phone);
  const own = inArray(rateLimitEvents.subject, [...codesTo, ...wrongTriesAt]);
  return build.delete(rateLimitEvents).where(own).getSQL();
}
