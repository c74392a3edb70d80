import { useEffect, useState } from 'react';
import { request } from './api.ts';

/** How long the page waits, in milliseconds. */
const patience = 1000;

/**
 * The country of the connection, null when it is unknown, undefined while it is asked for. A response after a second is
 * ignored: the number that somebody is about to tap must not move.
 */
export function useConnectionCountry(): string | null | undefined {
  const [country, setCountry] = useState<string | null>();
  useEffect(() => {
    const settle = (found: string | null) => setCountry((known) => (known === undefined ? found : known));
    const timer = setTimeout(settle, patience, null);
    request('getCountry').then(
      (response) => settle(response.country ?? null),
      () => settle(null),
    );
    return () => clearTimeout(timer);
  }, []);
  return country;
}
