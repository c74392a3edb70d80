/** Where a request came from, as Cloudflare says; XX and T1 (Tor) name no country. */
export function connectionCountry({ headers }: Request): string | null {
  const country = headers.get('cf-ipcountry') ?? '';
  return /^[A-Z]{2}$/.test(country) && country !== 'XX' ? country : null;
}
