import { countryOfPhone } from '#contract/country-of-phone';
import { useConnectionCountry } from './use-connection-country.ts';
import { useSession } from './use-session.ts';

/** The countries whose crisis lines may help: where the person is, then that of the number. None until both are known. */
export function useHelpCountries(): string[] {
  const here = useConnectionCountry();
  const phone = useSession(({ user }) => user?.phoneNumber ?? null);
  if (here === undefined) return [];
  const countries = [here, phone && countryOfPhone(phone)];
  return countries.flatMap((country) => (country ? [country] : []));
}
