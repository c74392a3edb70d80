import type { PhoneNumber } from '../identity/phone.ts';
import { phoneSubjects } from '../identity/phone.ts';
import { networkOf } from '../lib/caller.ts';
import { keyedHashes } from '../lib/crypto.ts';
import { hashedSubject, type Limit, type Limited } from '../lib/rate-limits.ts';
import type { Scope } from '../request-scope.ts';

/**
 * The subjects of the rate limits on codes: keyed hashes of
 * the number, of the caller's address and of its network.
 */
async function subjectsOf(
  { settings, address }: Scope<'address' | 'settings'>,
  phone: PhoneNumber,
) {
  const hashesOf = (of: string) => keyedHashes(settings.CODE_PEPPER, 'limit', of);
  const network = networkOf(address);
  const [number, caller, callersNetwork] = await Promise.all([
    phoneSubjects(settings, phone),
    hashesOf(address),
    network ? hashesOf(network) : null,
  ]);

  return {
    ...number,
    address: fromSubjects(caller),
    network: callersNetwork && fromSubjects(callersNetwork),
  };
}

const fromSubjects = (hashes: string[]) => ({
  codesFrom: hashedSubject('codes-from', hashes),
  requestsFrom: hashedSubject('requests-from', hashes),
  triesFrom: hashedSubject('tries-from', hashes),
  linksFrom: hashedSubject('links-from', hashes),
});

/**
 * So many of a number's daily codes are kept for
 * logins whose link code the number itself sends.
 */
const keptForLinkCodes = 5;

/** Above its limit an address still gets link codes, so many times as many as requests. */
const linksPerRequest = 5;

const linksOf = (requests: Limit[]) =>
  requests.map(({ most, per }) => ({ most: most * linksPerRequest, per }));

export async function limitsOf(caller: Scope<'address' | 'settings'>, phone: PhoneNumber) {
  const { settings } = caller;
  const { address, network, ...number } = await subjectsOf(caller, phone);
  const per = (
    from: 'codesFrom' | 'requestsFrom' | 'triesFrom' | 'linksFrom',
    byAddress: Limit[],
    byNetwork: Limit[],
  ): Limited[] => [
    { subject: address[from], limits: byAddress },
    ...(network ? [{ subject: network[from], limits: byNetwork }] : []),
  ];
  const withReserve = ({ most, per }: Limit) => ({
    most: Math.max(1, most - keptForLinkCodes),
    per,
  });

  return {
    requests: per(
      'requestsFrom',
      settings.LIMIT_CODE_REQUESTS_PER_ADDRESS,
      settings.LIMIT_CODE_REQUESTS_PER_NETWORK,
    ),
    links: per(
      'linksFrom',
      linksOf(settings.LIMIT_CODE_REQUESTS_PER_ADDRESS),
      linksOf(settings.LIMIT_CODE_REQUESTS_PER_NETWORK),
    ),
    codesFrom: per('codesFrom', settings.LIMIT_CODES_PER_ADDRESS, settings.LIMIT_CODES_PER_NETWORK),
    tries: per('triesFrom', settings.LIMIT_TRIES_PER_ADDRESS, settings.LIMIT_TRIES_PER_NETWORK),
    codesTo: [
      // A contact clears the other limits of its number,
      // but not this one, which outlives the account.
      {
        subject: number.everyCodeTo,
        limits: settings.LIMIT_CODES_PER_NUMBER_HARD.map(withReserve),
      },
      { subject: number.codesTo, limits: settings.LIMIT_CODES_PER_NUMBER },
    ],
    wrongTries: [{ subject: number.wrongTriesAt, limits: settings.LIMIT_WRONG_TRIES_PER_NUMBER }],
  };
}
