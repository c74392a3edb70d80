import * as v from 'valibot';
import type { PhoneNumber } from '#db/schema';
import { Phone } from '../contract/schemas.ts';

export type { PhoneNumber } from '#db/schema';

/**
 * The canonical spelling: the only one that is stored and compared. WhatsApp writes Mexican and Argentinian numbers
 * with an extra digit after the country code, and Brazilian mobiles with or without their ninth digit.
 */
export function canonicalPhone(phone: string): PhoneNumber {
  return canonicalSpelling(phone) as PhoneNumber;
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
