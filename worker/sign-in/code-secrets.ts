import { base64url } from 'jose';
import { minuteMs } from '../lib/time.ts';

const span = 1_000_000;
const codesBelow = Math.floor(2 ** 32 / span) * span;

/** Six random digits, each code as likely as any other. */
export function newCode(): string {
  const number = crypto.getRandomValues(new Uint32Array(1))[0]!;
  return number < codesBelow ? String(number % span).padStart(6, '0') : newCode();
}

/** Without 0 and O, 1, I and L, which people confuse. */
const alphabet = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const linkCodeLength = 8;
export const linkCodeLifetimeMs = 30 * minuteMs;
const charactersBelow = 256 - (256 % alphabet.length);

/** Eight random characters, each text as likely as any other. */
export function newLinkCode(): string {
  const characters = [...crypto.getRandomValues(new Uint8Array(4 * linkCodeLength))]
    .filter((byte) => byte < charactersBelow)
    .map((byte) => alphabet[byte % alphabet.length]);
  return characters.length < linkCodeLength
    ? newLinkCode()
    : characters.slice(0, linkCodeLength).join('');
}

/**
 * 192 random bits, which only the caller learns:
 * with them a code has tries of its own.
 */
export function newChallenge(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(24)));
}
