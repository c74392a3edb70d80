import { randomBytes } from 'node:crypto';
import type { TestProject } from 'vitest/node';
import { startTestServices } from '../product/start-product.ts';

const secret = () => randomBytes(32).toString('base64url');
const ring = () => `new:${secret()} old:${secret()}`;

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const settings = {
    SITE_URL: 'http://solace.test',
    SESSION_KEYS: ring(),
    CHAT_KEYS: ring(),
    CODE_PEPPER: `${secret()} ${secret()}`,
    // Without it WhatsApp sends no delivery reports, which no server would receive.
    WHATSAPP_APP_SECRET: '',
  };
  const services = await startTestServices({ settings });
  const url = services.vars.STRIPE_API_BASE;
  // No server runs at the site's address: the tests post Stripe's events and the bot's replies themselves.
  await fetch(`${url}/stripe/webhooks`, {
    method: 'PUT',
    body: JSON.stringify({ mode: 'hold' }),
  });
  await fetch(`${url}/bot/mode`, {
    method: 'PUT',
    body: JSON.stringify({ mode: 'accept' }),
  });
  provide('vars' as never, services.vars as never);
  provide('sandbox' as never, url as never);
  return () => services.close();
}
