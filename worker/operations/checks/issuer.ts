import type { Settings } from '../../settings.ts';
import { ask } from '../ask.ts';
import { fine, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';

/** Whether the external issuer shows keys that can sign. */
export async function checkIssuer({ EXTERNAL_TOKEN_JWKS_URL: url }: Settings): Promise<Finding[]> {
  const bad = (what: string) => [wrong('EXTERNAL_TOKEN_JWKS_URL', what, howToGet.EXTERNAL_TOKEN_JWKS_URL)];
  const answer = await ask(url);
  if ('silent' in answer) return bad(`the issuer does not answer (${answer.silent})`);
  if (!answer.ok) return bad(`the issuer answers ${answer.status}`);
  const body = (await answer.json().catch(() => null)) as { keys?: { kty?: string }[] } | null;
  const usable = (body?.keys ?? []).filter(({ kty }) => kty === 'RSA' || kty === 'EC' || kty === 'OKP');
  return usable.length > 0 ? [fine('The external issuer shows its keys')] : bad('holds no key');
}
