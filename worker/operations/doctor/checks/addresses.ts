import { brand } from '../../../contract/brand.ts';
import type { Settings } from '../../../settings.ts';
import { fine, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';
import type { Target } from '../../target.ts';

const names = [
  'SITE_URL',
  'TURSO_DATABASE_URL',
  'WHATSAPP_API_BASE',
  'BOT_WEBHOOK_URL',
  'STRIPE_API_BASE',
  'EXTERNAL_TOKEN_JWKS_URL',
] as const;

/** Whether addresses are valid, and public where they must be. */
export function checkAddresses(settings: Partial<Settings>, target: Target): Finding[] {
  const findings = [
    ...names.flatMap((name) => checkAddress(name, settings[name], target)),
    ...checkOrigins(settings.WEB_ORIGINS ?? []),
    ...checkSite(settings.SITE_URL, target),
  ];
  return findings.length > 0 ? findings : [fine('Addresses are well formed')];
}

function checkAddress(name: (typeof names)[number], value: string | undefined, target: Target): Finding[] {
  if (value === undefined) return [];
  if (!URL.canParse(value)) return [wrong(name, 'is no address', howToGet[name])];
  const { protocol, hostname } = new URL(value);
  const safe = protocol === 'https:' || (name === 'TURSO_DATABASE_URL' && /^(libsql|wss):$/.test(protocol));
  const here = /^(localhost|127\.|\[::1\])/.test(hostname);
  if (target === 'local' ? safe || protocol === 'http:' : safe && !here) return [];
  return [wrong(name, `must be https and not this machine in ${target}`, howToGet[name])];
}

function checkOrigins(origins: string[]): Finding[] {
  const bad = origins.filter((origin) => !URL.canParse(origin) || new URL(origin).origin !== origin);
  return bad.length > 0 ? [wrong('WEB_ORIGINS', `${bad.join(' ')} is no origin`, howToGet.WEB_ORIGINS)] : [];
}

/** Pages contain their canonical address for search engines and shared links, so it must be the deployed one. */
function checkSite(site: string | undefined, target: Target): Finding[] {
  if (!site || !URL.canParse(site)) return [];
  if (new URL(site).origin !== site) return [wrong('SITE_URL', 'has a path', howToGet.SITE_URL)];
  if (target !== 'production' || site === brand.siteUrl) return [];
  return [
    wrong('SITE_URL', `is not the address that the pages give`, 'Write it as siteUrl in worker/contract/brand.ts.'),
  ];
}
