import { phoneSubjects, type PhoneNumber } from '../identity/phone.ts';
import { networkOf } from '../lib/caller.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { hashedSubject, type Limit, type Limited } from '../lib/rate-limits.ts';
import type { Scope } from '../request-scope.ts';
import type { Settings } from '../settings.ts';

/** For logins whose link code the number itself sends. */
const keptForLinkCodes = 5;

/** Link codes that an address is shown, for each request that it may make. */
const linksPerRequest = 5;

const linkLimitsOf = (requests: Limit[]) =>
  requests.map(({ most, per }) => ({ most: most * linksPerRequest, per }));

const withReserve = ({ most, per }: Limit) => ({
  most: Math.max(1, most - keptForLinkCodes),
  per,
});

export async function limitsOfNumber(settings: Settings, phone: PhoneNumber) {
  const { everyCodeTo, codesTo, wrongTriesAt } = await phoneSubjects(settings, phone);
  return {
    codesTo: [
      // A contact clears the other limits of its number,
      // but not this one, which outlives the account.
      {
        subject: everyCodeTo,
        limits: settings.require('LIMIT_CODES_PER_NUMBER_HARD').map(withReserve),
      },
      { subject: codesTo, limits: settings.require('LIMIT_CODES_PER_NUMBER') },
    ],
    wrongTries: [
      { subject: wrongTriesAt, limits: settings.require('LIMIT_WRONG_TRIES_PER_NUMBER') },
    ],
  };
}

export async function limitsOfCaller({ settings, address }: Scope<'address' | 'settings'>) {
  const network = networkOf(address);
  const hashesOf = (of: string) => keyedHashes(settings.CODE_PEPPER, 'limit', of);
  const [ofAddress, ofNetwork] = await Promise.all([
    hashesOf(address),
    network ? hashesOf(network) : null,
  ]);
  const per = (prefix: string, byAddress: Limit[], byNetwork: Limit[]): Limited[] => [
    { subject: hashedSubject(prefix, ofAddress), limits: byAddress },
    ...(ofNetwork ? [{ subject: hashedSubject(prefix, ofNetwork), limits: byNetwork }] : []),
  ];
  const requests = [
    settings.require('LIMIT_CODE_REQUESTS_PER_ADDRESS'),
    settings.require('LIMIT_CODE_REQUESTS_PER_NETWORK'),
  ] as const;

  return {
    requests: per('requests-from', ...requests),
    links: per('links-from', linkLimitsOf(requests[0]), linkLimitsOf(requests[1])),
    codesFrom: per(
      'codes-from',
      settings.require('LIMIT_CODES_PER_ADDRESS'),
      settings.require('LIMIT_CODES_PER_NETWORK'),
    ),
    tries: per(
      'tries-from',
      settings.require('LIMIT_TRIES_PER_ADDRESS'),
      settings.require('LIMIT_TRIES_PER_NETWORK'),
    ),
  };
}

export async function limitsOf(scope: Scope<'address' | 'settings'>, phone: PhoneNumber) {
  const [ofNumber, ofCaller] = await Promise.all([
    limitsOfNumber(scope.settings, phone),
    limitsOfCaller(scope),
  ]);
  return { ...ofNumber, ...ofCaller };
}
