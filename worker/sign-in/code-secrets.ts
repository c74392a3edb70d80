import { base64url } from 'jose';
import { customAlphabet } from 'nanoid';
import { minuteMs } from '../lib/time.ts';

export const newCode = customAlphabet('0123456789', 6);

export const linkCodeLifetimeMs = 30 * minuteMs;

/** Without 0 and O, 1, I and L, which people confuse. */
export const newLinkCode = customAlphabet('23456789ABCDEFGHJKMNPQRSTUVWXYZ', 8);

/** 192 random bits. */
export function newChallenge(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(24)));
}
