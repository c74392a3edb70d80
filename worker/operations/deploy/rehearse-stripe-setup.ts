import { Stripe } from 'stripe';
import { stripeOptions } from '../../billing/stripe-client.ts';
import { setUpStripe } from '../stripe-setup/set-up.ts';
import type { Settings } from '../../settings.ts';

const notMade = 'not_made';
const emptyList = { object: 'list', data: [], has_more: false, url: '/' };

/** A dry run of `npm run stripe:setup`: the lines that it would print; Stripe is only read. */
export async function rehearseSetup(settings: Settings): Promise<string[]> {
  const { lines } = await setUpStripe(readingStripe(settings), settings.SITE_URL);
  return lines;
}

/** Stripe's SDK, whose reads reach Stripe and whose writes get a local response. */
export function readingStripe({ STRIPE_API_BASE, STRIPE_SECRET_KEY }: Settings): Stripe {
  const httpClient = Stripe.createFetchHttpClient(readOnly as typeof fetch);
  return new Stripe(STRIPE_SECRET_KEY, { ...stripeOptions(STRIPE_API_BASE), httpClient });
}

async function readOnly(url: string, init: RequestInit): Promise<Response> {
  if (init.method !== 'GET') return Response.json({ id: notMade });
  return url.includes(notMade) ? Response.json(emptyList) : fetch(url, init);
}
