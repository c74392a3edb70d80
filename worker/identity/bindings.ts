import type { PhoneNumber } from '#db/schema';
import { keyedHash, keyedHashes } from '../lib/crypto.ts';
import { log } from '../lib/log.ts';
import { memoize } from '../lib/memoize.ts';
import { keysOfRing, type Peppers } from '../lib/secrets.ts';

/**
 * Keyed hashes that bind a row to the number of its user.
 * Whoever may write a row of the database cannot make one
 * for another number, so the row opens nothing there.
 */
type SessionKeys = { SESSION_KEYS: string };

export function aliasMacs({ CODE_PEPPER }: Peppers, businessUserId: string, phone: PhoneNumber) {
  return keyedHashes(CODE_PEPPER, 'binding', 'alias', businessUserId, phone);
}

export function bindAlias(settings: Peppers, businessUserId: string, phone: PhoneNumber) {
  return keyedHash(settings.CODE_PEPPER[0]!, 'binding', 'alias', businessUserId, phone);
}

export function bindTrialLink(settings: Peppers, linkMac: string, phone: PhoneNumber) {
  return keyedHash(settings.CODE_PEPPER[0]!, 'binding', 'trial-link', linkMac, phone);
}

export function bindSession(settings: SessionKeys, session: BoundSession): Promise<string> {
  const [secret] = keysOfRing(settings.SESSION_KEYS) as [string];
  return keyedHash(secret, 'session', ...partsOf(session));
}

export type BoundSession = {
  sessionId: string;
  phone: PhoneNumber;
  isLimited: boolean;
};

const partsOf = ({ sessionId, phone, isLimited }: BoundSession) =>
  isLimited ? [sessionId, 'limited'] : [sessionId, 'full', phone];

export async function isOwnAlias(
  settings: Peppers,
  {
    value,
    phone,
    bindingMac,
  }: {
    value: string;
    phone: PhoneNumber;
    bindingMac: string | null;
  },
): Promise<boolean> {
  return isOneOf(bindingMac, 'aliases', await aliasMacs(settings, value, phone));
}

export async function isOwnTrialLink(
  { CODE_PEPPER }: Peppers,
  {
    linkMac,
    phone,
    bindingMac,
  }: {
    linkMac: string;
    phone: PhoneNumber;
    bindingMac: string | null;
  },
): Promise<boolean> {
  const macs = await keyedHashes(CODE_PEPPER, 'binding', 'trial-link', linkMac, phone);
  return isOneOf(bindingMac, 'trial_links', macs);
}

const sessionsKept = 1000;

const sessionMacs = memoize((ring: string) =>
  memoize(
    (parts: string) => keyedHashes(keysOfRing(ring), 'session', ...(JSON.parse(parts) as string[])),
    sessionsKept,
  ),
);

export function limitedSessionMacs(
  { SESSION_KEYS }: SessionKeys,
  sessionId: string,
): Promise<string[]> {
  return sessionMacs(SESSION_KEYS)(JSON.stringify([sessionId, 'limited']));
}

export async function isOwnSession(
  { SESSION_KEYS }: SessionKeys,
  { bindingMac, ...session }: BoundSession & { bindingMac: string | null },
): Promise<boolean> {
  const macs = await sessionMacs(SESSION_KEYS)(JSON.stringify(partsOf(session)));
  return isOneOf(bindingMac, 'sessions', macs);
}

function isOneOf(bindingMac: string | null, table: string, macs: string[]): boolean {
  const isBound = bindingMac !== null && macs.includes(bindingMac);
  if (!isBound) log('error', 'row_not_bound', { table });
  return isBound;
}
