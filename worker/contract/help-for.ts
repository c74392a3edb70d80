import type { HelpLine } from './help-line.ts';
import { helpLines } from './help-lines.ts';

export type CountryHelp = { country: string; name?: string; lines: readonly HelpLine[] };

/**
 * The lines of each country once, in the given order. Pass the connection's country before the phone number's, since
 * short numbers work only inside their country. A country without a line has no name and an empty list.
 */
export function helpFor(countries: readonly string[]): CountryHelp[] {
  // Cloudflare's CF-IPCountry is XX for an unknown country and T1 for Tor.
  const known = countries.filter((country) => /^[A-Z]{2}$/.test(country) && country !== 'XX');
  return [...new Set(known)].map((country) => ({ country, lines: [], ...helpLines[country] }));
}
