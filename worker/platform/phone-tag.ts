import type { PhoneNumber } from '#db/schema';
import { keyedHash } from './keyed-hash.ts';

/** Stands for a number in the log: 8 hex digits, the same for the same number, from which nobody can go back. */
export async function phoneTag(pepper: string, phone: PhoneNumber): Promise<string> {
  return (await keyedHash(pepper, 'log', phone)).slice(0, 8);
}
