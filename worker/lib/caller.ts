/** What limits count: an IPv4 as it is, an IPv6 by its /64, `unknown` without an address. */
export function callerAddress(headers: Headers): string {
  const address = (headers.get('cf-connecting-ip') ?? '').trim().toLowerCase();
  if (/^[\d.]{7,15}$/.test(address)) return address;
  const mapped = /^::ffff:([\d.]{7,15})$/.exec(address);
  if (mapped) return mapped[1]!;
  if (!/^[\da-f:.]{2,45}$/.test(address)) return 'unknown';
  return `${groupsOf(address).slice(0, 4).join(':')}::/64`;
}

/** The /48 of a caller's /64, since a provider gives one customer up to 65,536 of them; null for other addresses. */
export function networkOf(address: string): string | null {
  return address.endsWith('::/64') ? `${address.split(':').slice(0, 3).join(':')}::/48` : null;
}

function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const left = head ? head.split(':') : [];
  const right = tail ? tail.split(':') : [];
  const gap = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const zeros = Array.from({ length: gap }, () => '0');
  return [...left, ...zeros, ...right].map((group) => group.replace(/^0+(?=.)/, ''));
}

/** Where a request came from, as Cloudflare says; XX and T1 (Tor) name no country. */
export function connectionCountry({ headers }: Request): string | null {
  const country = headers.get('cf-ipcountry') ?? '';
  return /^[A-Z]{2}$/.test(country) && country !== 'XX' ? country : null;
}
