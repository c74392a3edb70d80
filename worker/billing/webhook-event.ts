import type { Stripe } from 'stripe';
import { Problem } from '../problem.ts';
import type { Settings } from '../settings.ts';
import { openStripe } from './stripe.ts';

const toleranceSeconds = 300;

/** The event behind a body that Stripe signed with one of the secrets, not long ago; 400 otherwise. */
export async function verifyEvent(settings: Settings, request: Request, body: string): Promise<Stripe.Event> {
  const signature = request.headers.get('stripe-signature') ?? '';
  const stripe = await openStripe(settings);
  for (const secret of isRecent(signature) ? settings.STRIPE_WEBHOOK_SECRET : []) {
    try {
      return await stripe.webhooks.constructEventAsync(body, signature, secret, toleranceSeconds);
    } catch {
      continue;
    }
  }
  throw new Problem('invalidStripeSignature');
}

/** Stripe's own check looks at the past alone; a date in the future would let a signature live on. */
function isRecent(signature: string): boolean {
  const at = Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(signature)?.[1]);
  return Math.abs(Date.now() / 1000 - at) <= toleranceSeconds;
}

/** The customer that an event is about, or null where it is about none. */
export function customerOf(event: Stripe.Event): string | null {
  const object = event.data.object as { id?: string; object: string; customer?: string | { id: string } | null };
  if (object.object === 'customer') return object.id ?? null;
  return typeof object.customer === 'object' ? (object.customer?.id ?? null) : (object.customer ?? null);
}
