import type { Settings } from '../../../settings.ts';
import { httpRequest } from '../http-request.ts';
import { fine, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';

const names = ['EXTERNAL_TOKEN_ISSUER', 'EXTERNAL_TOKEN_AUDIENCE', 'EXTERNAL_TOKEN_JWKS_URL'] as const;

/** Whether the external issuer publishes signing keys; external tokens are off without its settings. */
export async function checkIssuer(settings: Settings): Promise<Finding[]> {
  const missing = names.filter((name) => !settings[name]);
  if (missing.length === names.length) return [fine('External tokens are off: EXTERNAL_TOKEN_ISSUER is not set')];
  if (missing.length > 0) return missing.map((name) => wrong(name, 'is missing', howToGet[name]));
  const url = settings.EXTERNAL_TOKEN_JWKS_URL!;
  const bad = (what: string) => [wrong('EXTERNAL_TOKEN_JWKS_URL', what, howToGet.EXTERNAL_TOKEN_JWKS_URL)];
  const response = await httpRequest(url);
  if ('failure' in response) return bad(`the issuer does not answer (${response.failure})`);
  if (!response.ok) return bad(`the issuer answers ${response.status}`);
  const body: { keys?: { kty?: string }[] } | null = await response.json().catch(() => null);
  const usable = (body?.keys ?? []).filter(({ kty }) => kty === 'RSA' || kty === 'EC' || kty === 'OKP');
  return usable.length > 0 ? [fine('The external issuer shows its keys')] : bad('holds no key');
}
