import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../drizzle/migrate.ts';
import { setUpStripe } from '../product/start-product.ts';
import { freshKeyPair, pushHosts } from '../product/vars.ts';
import { startSandbox } from '../sandbox/start.ts';

/** One per run, so that concurrent runs do not collide. */
const stateDir = fileURLToPath(new URL(`../../.wrangler/test-api/${process.pid}`, import.meta.url));
const siteUrl = 'http://solace.test';
const random = () => randomBytes(32).toString('base64url');

const secrets = {
  TURSO_AUTH_TOKEN: random(),
  WHATSAPP_PHONE_NUMBER_ID: '100200300',
  WHATSAPP_TOKEN: random(),
  WHATSAPP_TEMPLATE_NAME: 'sign_in_code',
  WHATSAPP_TEMPLATE_LANGUAGE: 'en es pt_BR',
  BOT_WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
  EXTERNAL_TOKEN_ISSUER: 'https://issuer.test',
  EXTERNAL_TOKEN_AUDIENCE: 'solace',
  STRIPE_SECRET_KEY: `sk_test_${random()}`,
  STRIPE_WEBHOOK_SECRET: `whsec_${random()}`,
};

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const sandbox = await startSandbox({ port: 0, stateDir, siteUrl, secrets, reset: true });
  const url = sandbox.url.replace('localhost', '127.0.0.1');
  const vars = {
    ...secrets,
    SITE_URL: siteUrl,
    SESSION_KEYS: `new:${random()} old:${random()}`,
    CODE_PEPPER: `${random()} ${random()}`,
    CHAT_KEYS: `new:${random()} old:${random()}`,
    VAPID_KEYS: freshKeyPair(),
    PUSH_HOSTS: pushHosts(url),
    TURSO_DATABASE_URL: `${url}/libsql/`,
    WHATSAPP_API_BASE: `${url}/whatsapp/v23.0`,
    BOT_WEBHOOK_URL: `${url}/bot/webhook`,
    EXTERNAL_TOKEN_JWKS_URL: `${url}/issuer/jwks.json`,
    STRIPE_API_BASE: url,
  };
  await migrate(vars.TURSO_DATABASE_URL, vars.TURSO_AUTH_TOKEN);
  await setUpStripe(vars);
  // No server runs at the site's address: the tests post Stripe's events and the bot's replies themselves.
  await fetch(`${url}/stripe/webhooks`, { method: 'PUT', body: JSON.stringify({ mode: 'hold' }) });
  await fetch(`${url}/bot/mode`, { method: 'PUT', body: JSON.stringify({ mode: 'accept' }) });
  provide('vars' as never, vars as never);
  provide('sandbox' as never, url as never);
  return async () => {
    await sandbox.close();
    rmSync(stateDir, { recursive: true, force: true });
  };
}
