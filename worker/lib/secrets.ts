type SecretSettings = {
  SESSION_KEYS?: string;
  CHAT_KEYS?: string;
  CODE_PEPPER?: string[];
  BOT_WEBHOOK_SECRET?: string[];
  STRIPE_WEBHOOK_SECRET?: string[];
  VAPID_KEYS?: { privateKey: string }[] | undefined;
  TURSO_AUTH_TOKEN?: string | undefined;
  WHATSAPP_TOKEN?: string;
  STRIPE_SECRET_KEY?: string;
  MAIL_API_KEY?: string | undefined;
};
export type SecretName = keyof SecretSettings;
export type Secret = { name: SecretName; value: string };

/** Secrets of keyed hashes; the first is for what is new. */
export type Peppers = { CODE_PEPPER: string[] };

const leastCharacters = 32;
/** The minimum of the Standard Webhooks specification. */
const leastBytes = 24;
/** Issued by others, who decide their length. */
const issuedByOthers: ReadonlySet<SecretName> = new Set([
  'TURSO_AUTH_TOKEN',
  'WHATSAPP_TOKEN',
  'STRIPE_SECRET_KEY',
  'MAIL_API_KEY',
]);

export function secretsOf(settings: SecretSettings): Secret[] {
  const lists: [SecretName, (string | undefined)[]][] = [
    ['SESSION_KEYS', keysOfRing(settings.SESSION_KEYS)],
    ['CHAT_KEYS', keysOfRing(settings.CHAT_KEYS)],
    ['CODE_PEPPER', settings.CODE_PEPPER ?? []],
    ['BOT_WEBHOOK_SECRET', settings.BOT_WEBHOOK_SECRET ?? []],
    ['STRIPE_WEBHOOK_SECRET', settings.STRIPE_WEBHOOK_SECRET ?? []],
    ['VAPID_KEYS', (settings.VAPID_KEYS ?? []).map(({ privateKey }) => privateKey)],
    ['TURSO_AUTH_TOKEN', [settings.TURSO_AUTH_TOKEN]],
    ['WHATSAPP_TOKEN', [settings.WHATSAPP_TOKEN]],
    ['STRIPE_SECRET_KEY', [settings.STRIPE_SECRET_KEY]],
    ['MAIL_API_KEY', [settings.MAIL_API_KEY]],
  ];
  return lists.flatMap(([name, values]) =>
    values.flatMap((value) => (value ? [{ name, value }] : [])),
  );
}

export function isShort({ name, value }: Secret): boolean {
  if (issuedByOthers.has(name)) return false;
  if (name !== 'BOT_WEBHOOK_SECRET') return value.length < leastCharacters;
  return atob(value.replace(/^whsec_/, '')).length < leastBytes;
}

export function repeatedSecrets(secrets: Secret[]): (Secret & { first: SecretName })[] {
  const firsts = new Map<string, SecretName>();
  return secrets.flatMap((secret) => {
    const first = firsts.get(secret.value);
    if (first) return [{ ...secret, first }];
    firsts.set(secret.value, secret.name);
    return [];
  });
}

export const boundMark = '/2';

export function chatKeyName(chatKeyId: string): string {
  return chatKeyId.endsWith(boundMark) ? chatKeyId.slice(0, -boundMark.length) : chatKeyId;
}

export function keyNamesOf(ring: string): string[] {
  return entriesOf(ring).map((key) => key.slice(0, key.indexOf(':')));
}

/** The one for what is new first. */
export function keysOfRing(ring = ''): string[] {
  return entriesOf(ring).map((key) => key.slice(key.indexOf(':') + 1));
}

function entriesOf(ring: string): string[] {
  return ring.trim().split(/\s+/);
}
