import { countryOfPhone } from '../rules/phone-country.ts';
import { useSession } from './session.ts';
import { useEffect, useState } from 'react';
import { request } from './api-client.ts';

/** The person's own, then the number's; none until both are known. */
export function useHelpCountries(): string[] {
  const here = useConnectionCountry();
  const phone = useSession(({ user }) => user?.phoneNumber ?? null);
  if (here === undefined) return [];
  const countries = [here, phone && countryOfPhone(phone)];
  return countries.flatMap((country) => (country ? [country] : []));
}

/** ms. */
const patience = 1000;

/** A late response would move a number about to be tapped. */
function useConnectionCountry(): string | null | undefined {
  const [country, setCountry] = useState<string | null>();
  useEffect(() => {
    const settle = (found: string | null) =>
      setCountry((known) => (known === undefined ? found : known));
    const timer = setTimeout(settle, patience, null);
    request('getCountry').then(
      (response) => settle(response.country ?? null),
      () => settle(null),
    );
    return () => clearTimeout(timer);
  }, []);
  return country;
}
