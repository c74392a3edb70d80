import { isShort, repeatedSecrets, secretsOf, type Secret } from '../../../lib/secrets.ts';
import type { Settings } from '../../../settings.ts';
import { fine, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';

const ours = new Set(['SESSION_KEYS', 'CHAT_KEYS', 'CODE_PEPPER', 'BOT_WEBHOOK_SECRET', 'STRIPE_WEBHOOK_SECRET']);
const fewestCharacters = 10;

/** Whether secrets are long and varied enough, and no two of them the same. */
export function checkSecrets(settings: Partial<Settings>): Finding[] {
  const secrets = secretsOf(settings);
  const weak = secrets.filter((secret) => isShort(secret) || isPlain(secret));
  const findings = [
    ...weak.map(({ name }) => wrong(name, 'is too short or too plain to be a secret', howToGet[name])),
    ...repeatedSecrets(secrets).map(({ name, first }) => wrong(name, `is the same as ${first}`, howToGet[name])),
  ];
  return findings.length > 0 ? findings : [fine('Secrets are long enough, and each is another')];
}

/** Whether a secret has too few different characters, or lacks the prefix that its issuer gives it. */
function isPlain({ name, value }: Secret): boolean {
  if (!ours.has(name)) return false;
  if (name === 'STRIPE_WEBHOOK_SECRET' && !/^whsec_.{32,}$/.test(value)) return true;
  if (name === 'BOT_WEBHOOK_SECRET' && !value.startsWith('whsec_')) return true;
  return new Set(value.replace(/^whsec_/, '')).size < fewestCharacters;
}
