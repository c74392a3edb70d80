import type { Settings } from '../settings.ts';

/** Headers that let a page of another origin read the answer; none for origins that are not listed. */
export function corsHeaders(origin: string | undefined, settings: Settings, withCredentials: boolean): Headers {
  const headers = new Headers({ vary: 'Origin' });
  if (!origin || !settings.WEB_ORIGINS.includes(origin)) return headers;
  headers.set('access-control-allow-origin', origin);
  headers.set('access-control-expose-headers', 'x-request-id, retry-after');
  if (withCredentials) headers.set('access-control-allow-credentials', 'true');
  return headers;
}

/** What a preflight of a listed origin is granted besides. */
export function preflightHeaders(methods: string): Headers {
  return new Headers({
    'access-control-allow-methods': methods,
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '86400',
  });
}
