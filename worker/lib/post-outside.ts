import { brand } from '../contract/brand.ts';

type Posted = {
  headers: Record<string, string>;
  body: BodyInit;
  timeoutMs: number;
};

/** Always in ASCII, as a header must be. */
const ourName = new URL(brand.siteUrl).host;

/**
 * Workers send no `User-Agent` by themselves, and mail services and
 * firewalls refuse a caller without one. A redirect is not followed:
 * another address may be a stranger's, or lie inside a network.
 */
export function postOutside(url: string, { headers, body, timeoutMs }: Posted): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'user-agent': ourName, ...headers },
    body,
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  });
}
