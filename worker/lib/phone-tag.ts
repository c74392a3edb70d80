import type { PhoneNumber } from '#db/schema';
import { keyedHash } from './keyed-hash.ts';

/** Identifies a number in the log: 8 hex digits of a keyed hash, the same for the same number. */
export async function phoneTag(pepper: string, phone: PhoneNumber): Promise<string> {
  return (await keyedHash(pepper, 'log', phone)).slice(0, 8);
}
