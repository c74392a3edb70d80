import type { Settings } from '../../settings.ts';
import { fine, wrong, type Finding } from '../finding.ts';
import { howToGet } from '../how-to-get.ts';

const leastCharacters = 32;
/** As Standard Webhooks asks for. */
const leastBytes = 24;

type SecretName = 'SESSION_KEYS' | 'CODE_PEPPER' | 'BOT_WEBHOOK_SECRET' | 'STRIPE_WEBHOOK_SECRET';
type Secret = { name: keyof Settings; value: string };

/** Whether secrets are long enough to guess nothing, and no two of them the same. */
export function checkSecrets(settings: Partial<Settings>): Finding[] {
  const rotating = rotatingSecrets(settings);
  const short = rotating.filter(({ name, value }) => !isLong(name, value));
  const all = [...rotating, ...single(settings)];
  const twins = all.filter(({ value }, index) => all.findIndex((other) => other.value === value) !== index);
  const findings = [
    ...named(short, () => 'is too short or too plain to be a secret'),
    ...named(twins, ({ value }) => `is the same as ${all.find((other) => other.value === value)!.name}`),
  ];
  return findings.length > 0 ? findings : [fine('Secrets are long enough, and each is another')];
}

function rotatingSecrets(settings: Partial<Settings>): Secret[] {
  const keys = settings.SESSION_KEYS?.trim().split(/\s+/) ?? [];
  const lists: Record<SecretName, string[]> = {
    SESSION_KEYS: keys.map((key) => key.slice(key.indexOf(':') + 1)),
    CODE_PEPPER: settings.CODE_PEPPER ?? [],
    BOT_WEBHOOK_SECRET: settings.BOT_WEBHOOK_SECRET ?? [],
    STRIPE_WEBHOOK_SECRET: settings.STRIPE_WEBHOOK_SECRET ?? [],
  };
  return Object.entries(lists).flatMap(([name, values]) =>
    values.map((value) => ({ name: name as SecretName, value })),
  );
}

function single(settings: Partial<Settings>): Secret[] {
  const names = ['TURSO_AUTH_TOKEN', 'WHATSAPP_TOKEN', 'STRIPE_SECRET_KEY'] as const;
  return names.flatMap((name) => (settings[name] ? [{ name, value: settings[name] }] : []));
}

function isLong(name: string, value: string): boolean {
  if (new Set(value.replace(/^whsec_/, '')).size < 10) return false;
  if (name === 'STRIPE_WEBHOOK_SECRET') return /^whsec_.{32,}$/.test(value);
  if (name !== 'BOT_WEBHOOK_SECRET') return value.length >= leastCharacters;
  return value.startsWith('whsec_') && Buffer.from(value.slice(6), 'base64').length >= leastBytes;
}

function named(secrets: Secret[], what: (secret: Secret) => string): Finding[] {
  return secrets.map((secret) => wrong(secret.name, what(secret), howToGet[secret.name]));
}
