import type { Settings } from '../settings.ts';

/** The Graph API's address with its version. */
export function graphUrl({ WHATSAPP_API_BASE: base, WHATSAPP_API_VERSION: version }: Settings): string {
  return /\/v\d+\.\d+$/.test(base) ? base : `${base}/${version}`;
}
