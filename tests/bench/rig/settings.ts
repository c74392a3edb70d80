import { randomBytes } from 'node:crypto';
import { addresses } from '../../product/vars.ts';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const random = (bytes: number) => randomBytes(bytes).toString('base64url');

/** Created for each run; shared by the Worker, the local services and the caller. */
const secrets = {
  TURSO_AUTH_TOKEN: random(32),
  SESSION_KEYS: `bench:${random(32)}`,
  CHAT_KEYS: `bench:${random(32)}`,
  CODE_PEPPER: random(32),
  /** A few users, who call repeatedly. */
  LIMIT_CALLS_PER_USER: '100000/1m',
  WHATSAPP_PHONE_NUMBER_ID: '100000000000001',
  WHATSAPP_TOKEN: random(32),
  WHATSAPP_TEMPLATE_NAME: 'sign_in_code',
  WHATSAPP_TEMPLATE_LANGUAGE: 'en_US',
  BOT_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
  EXTERNAL_TOKEN_AUDIENCE: 'solace',
  STRIPE_SECRET_KEY: `sk_test_${random(24)}`,
  STRIPE_WEBHOOK_SECRET: `whsec_${random(32)}`,
  /** So high that no measured message is refused. */
  CHAT_MESSAGES_PER_MINUTE: '99999',
  CHAT_MESSAGES_WAITING: '99999',
};

/** The settings of a Worker with its database on the port. */
export function settingsFor(databasePort: number): typeof secrets & Record<string, string> {
  return { ...secrets, ...addresses(ports.solace, databasePort), EXTERNAL_TOKEN_ISSUER: 'https://issuer.test' };
}

export const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The folder of all files that a run leaves. */
export const stateDir = join(root, '.wrangler/bench');

const firstPort = Number(process.env.BENCH_PORT ?? 8960);

/** Twenty ports of this machine alone; `BENCH_PORT` moves the first. */
export const ports = {
  solace: firstPort,
  bare: firstPort + 1,
  database: firstPort + 2,
  site: firstPort + 3,
  distance: firstPort + 5,
  /** One Worker and one database for each size. */
  growth: firstPort + 10,
};
