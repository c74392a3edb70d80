import { Stripe } from 'stripe';
import { stripeOptions } from '../../billing/stripe-client.ts';
import { readCommand } from '../target.ts';
import { setUpStripe } from './stripe-setup.ts';

/* `npm run stripe:setup [-- --env preview|production]`: settings come from the environment, or else from .dev.vars. */

if (!process.env.STRIPE_SECRET_KEY) readCommand('local');
const { STRIPE_SECRET_KEY, STRIPE_API_BASE = 'https://api.stripe.com', SITE_URL } = process.env;
if (!STRIPE_SECRET_KEY || !SITE_URL) {
  process.stderr.write('Set STRIPE_SECRET_KEY and SITE_URL, or start `npm run dev` once so that .dev.vars has them.\n');
  process.exit(1);
}

const stripe = new Stripe(STRIPE_SECRET_KEY, stripeOptions(STRIPE_API_BASE));
const { lines, webhookSecret } = await setUpStripe(stripe, SITE_URL.replace(/\/+$/, ''));
for (const line of lines) process.stdout.write(`${line}\n`);
if (webhookSecret && webhookSecret !== process.env.STRIPE_WEBHOOK_SECRET) {
  process.stdout.write(`Put this into STRIPE_WEBHOOK_SECRET: ${webhookSecret}\n`);
}
