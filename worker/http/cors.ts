import type { Settings } from '../settings.ts';

/** Headers that let a page of another origin read the answer; none for origins that are not listed. */
export function corsHeaders(
  origin: string | undefined,
  settings: Settings,
  withCredentials: boolean,
): Record<string, string> {
  if (!origin || !settings.WEB_ORIGINS.includes(origin)) return {};
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'x-request-id, retry-after',
    ...(withCredentials && { 'access-control-allow-credentials': 'true' }),
  };
}

/** What a preflight of a listed origin is granted besides. */
export function preflightHeaders(methods: string): Record<string, string> {
  return {
    'access-control-allow-methods': methods,
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '86400',
  };
}
