import type { Stripe } from 'stripe';
import { invalid } from '../errors.ts';
import type { Address } from '../types/contact-details.ts';

/** Throws for what cannot be an e-mail address. */
export function requireEmail(email: string): void {
  if (/^[^\s@]+@[^\s@]+$/.test(email)) return;
  throw invalid(`Invalid email address: ${email}`, 'email', 'email_invalid');
}

/** An address with all of Stripe's fields; null when it is unset. */
export function addressOf(given: Stripe.CustomerUpdateParams['address']): Address | null {
  const { city, country, line1, line2, postal_code, state } = given || {};
  if (!given) return null;
  return {
    city: city ?? null,
    country: country ?? null,
    line1: line1 ?? null,
    line2: line2 ?? null,
    postal_code: postal_code ?? null,
    state: state ?? null,
  };
}
