import { published, type Language } from '../contract/languages.ts';

/**
 * What limits count: an IPv4 as it is, an IPv6
 * by its /64, `unknown` without an address.
 */
export function callerAddress(headers: Headers): string {
  const address = (headers.get('cf-connecting-ip') ?? '').trim().toLowerCase();
  if (/^[\d.]{7,15}$/.test(address)) return address;
  const mapped = /^::ffff:([\d.]{7,15})$/.exec(address);
  if (mapped) return mapped[1]!;
  if (!/^[\da-f:.]{2,45}$/.test(address)) return 'unknown';
  return `${groupsOf(address).slice(0, 4).join(':')}::/64`;
}

/**
 * The /48 of a caller's /64, since a provider gives one
 * customer up to 65,536 of them; null for other addresses.
 */
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

export function connectionCountry({ headers }: Request): string | null {
  const country = headers.get('cf-ipcountry') ?? '';
  return /^[A-Z]{2}$/.test(country) && country !== 'XX' ? country : null;
}

/** Browsers send up to 200 characters. */
const longestPreferences = 1000;

/**
 * The published language that `Accept-Language` names first
 * (RFC 9110); English if none is, or if it is malformed.
 */
export function callerLanguage(headers: Headers): Language {
  const preferences = headers.get('accept-language') ?? '';
  if (preferences.length > longestPreferences) return 'en';
  const wanted = preferences.split(',').flatMap(preferenceOf);
  for (const { range } of wanted.toSorted((a, b) => b.quality - a.quality)) {
    const found = published.find((tag) => tag.toLowerCase() === range) ?? publishedOf(range);
    if (found) return found;
  }
  return 'en';
}

function preferenceOf(text: string): { range: string; quality: number }[] {
  const parts =
    /^\s*([a-z]{1,8}(?:-[a-z\d]{1,8})*)\s*(?:;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i.exec(
      text,
    );
  if (!parts) return [];
  const quality = Number(parts[2] ?? 1);
  return quality > 0 ? [{ range: parts[1]!.toLowerCase(), quality }] : [];
}

/**
 * By the language alone: `es-MX` is Spanish, and
 * `pt-PT` the only Portuguese that there is.
 */
function publishedOf(range: string): Language | undefined {
  const [primary] = range.split('-');
  return published.find((tag) => tag.split('-')[0] === primary);
}
