/* `npm run stripe:setup [-- --env preview|production]`: settings come from the environment, or else from .dev.vars. */
import { Stripe } from 'stripe';
import { readCommand } from '../operations/target.ts';
import { setUpStripe } from './setup.ts';

if (!process.env.STRIPE_SECRET_KEY) readCommand('local');
const { STRIPE_SECRET_KEY, STRIPE_API_BASE = 'https://api.stripe.com', SITE_URL } = process.env;
if (!STRIPE_SECRET_KEY || !SITE_URL) {
  process.stderr.write('Set STRIPE_SECRET_KEY and SITE_URL, or start `npm run dev` once so that .dev.vars has them.\n');
  process.exit(1);
}

const base = new URL(STRIPE_API_BASE);
const https = base.protocol === 'https:';
const stripe = new Stripe(STRIPE_SECRET_KEY, {
  apiVersion: '2026-10-28.endive',
  host: base.hostname,
  port: base.port || (https ? 443 : 80),
  protocol: https ? 'https' : 'http',
  telemetry: false,
});

const { lines, webhookSecret } = await setUpStripe(stripe, SITE_URL.replace(/\/+$/, ''));
for (const line of lines) process.stdout.write(`${line}\n`);
if (webhookSecret && webhookSecret !== process.env.STRIPE_WEBHOOK_SECRET) {
  process.stdout.write(`Put this into STRIPE_WEBHOOK_SECRET: ${webhookSecret}\n`);
}
