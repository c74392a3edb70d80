import { countryOfPhone } from '../rules/phone-country.ts';
import { useSession } from './session.ts';
import { useEffect, useState } from 'react';
import { request } from './api-client.ts';

/** Returns whose lines come first: the connection's country, then the number's. Empty until the first is known, for at most 1 s. */
export function useHelpCountries(): string[] {
  const here = useConnectionCountry();
  const phone = useSession(({ user }) => user?.phoneNumber ?? null);
  if (here === undefined) return [];
  const countries = [here, phone && countryOfPhone(phone)];
  return countries.flatMap((country) => (country ? [country] : []));
}

/** ms for which the lines wait for the country of the connection. */
const countryWaitMs = 1000;

/** Ignores a late response, which would move a number that somebody is about to tap. */
function useConnectionCountry(): string | null | undefined {
  const [country, setCountry] = useState<string | null>();
  useEffect(() => {
    const settle = (found: string | null) =>
      setCountry((known) => (known === undefined ? found : known));
    const timer = setTimeout(settle, countryWaitMs, null);
    request('getCountry').then(
      (response) => settle(response.country ?? null),
      () => settle(null),
    );
    return () => clearTimeout(timer);
  }, []);
  return country;
}
