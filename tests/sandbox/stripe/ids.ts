import { randomInt } from 'node:crypto';

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** An id in Stripe's format: a prefix such as `cus_`, and random letters. */
export function newId(prefix: string, length = 24): string {
  let id = prefix;
  for (let count = 0; count < length; count++) id += letters[randomInt(letters.length)];
  return id;
}
