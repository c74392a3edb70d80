import { Stripe } from 'stripe';
import { stripeOptions } from '../../billing/stripe-client.ts';
import { setUpStripe } from '../stripe-setup/set-up.ts';
import type { Settings } from '../../settings.ts';

const notMade = 'not_made';
const emptyList = { object: 'list', data: [], has_more: false, url: '/' };

/** What `npm run stripe:setup` would do now, line by line: Stripe is read, and nothing is written. */
export async function rehearseSetup(settings: Settings): Promise<string[]> {
  const { lines } = await setUpStripe(readingStripe(settings), settings.SITE_URL);
  return lines;
}

/** Stripe's SDK with requests that read; whatever would change something is answered here. */
export function readingStripe({ STRIPE_API_BASE, STRIPE_SECRET_KEY }: Settings): Stripe {
  const httpClient = Stripe.createFetchHttpClient(readOnly as typeof fetch);
  return new Stripe(STRIPE_SECRET_KEY, { ...stripeOptions(STRIPE_API_BASE), httpClient });
}

async function readOnly(url: string, init: RequestInit): Promise<Response> {
  if (init.method !== 'GET') return Response.json({ id: notMade });
  return url.includes(notMade) ? Response.json(emptyList) : fetch(url, init);
}
