import { Stripe } from 'stripe';
import { stripeOptions } from '../../worker/billing/stripe-client.ts';
import { setUpStripe as setUp } from '../../worker/operations/stripe-setup/set-up.ts';

/** Does what `npm run stripe:setup` does, against the local Stripe; a real account is not changed. */
export async function setUpStripe(vars: Record<string, string>): Promise<void> {
  const { STRIPE_API_BASE: base = '', STRIPE_SECRET_KEY: key = '', SITE_URL: siteUrl = '' } = vars;
  if (!/^https?:\/\/(localhost|127\.0\.0\.1)[:/]/.test(base)) return;
  await setUp(new Stripe(key, stripeOptions(base)), siteUrl.replace(/\/+$/, ''));
}
