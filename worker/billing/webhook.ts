import * as v from 'valibot';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { openStripe } from './stripe-client.ts';

const toleranceSeconds = 300;

/** The parts of an event that the Worker reads; the state is fetched from Stripe. */
const Event = v.object({
  id: v.string(),
  object: v.literal('event'),
  type: v.string(),
  livemode: v.boolean(),
  data: v.object({ object: v.record(v.string(), v.unknown()) }),
});

export type StripeEvent = v.InferOutput<typeof Event>;

/** Verifies Stripe's signature, at most 5 minutes old, with one of the secrets and returns the event; throws 400. */
export async function verifyStripeEvent(settings: Settings, request: Request, body: string): Promise<StripeEvent> {
  const signature = request.headers.get('stripe-signature') ?? '';
  if (!isRecent(signature) || !(await isSigned(settings, signature, body))) {
    throw new RequestError('invalidStripeSignature');
  }
  const event = v.safeParse(v.pipe(v.string(), v.parseJson(), Event), body);
  if (!event.success) throw new RequestError('invalidBody');
  return event.output;
}

async function isSigned(settings: Settings, signature: string, body: string): Promise<boolean> {
  const { webhooks } = await openStripe(settings);
  for (const secret of settings.STRIPE_WEBHOOK_SECRET) {
    const verified = webhooks.signature?.verifyHeaderAsync(body, signature, secret, toleranceSeconds);
    if (await verified?.catch(() => false)) return true;
  }
  return false;
}

/** Stripe's SDK accepts future dates, with which a signature would never expire. */
function isRecent(signature: string): boolean {
  const at = Number(/(?:^|,)t=(\d{1,12})(?:,|$)/.exec(signature)?.[1]);
  return Math.abs(Date.now() / 1000 - at) <= toleranceSeconds;
}

/** The customer that an event is about; null for an event that names none. */
export function customerOf({ data: { object } }: StripeEvent): string | null {
  if (object.object === 'customer') return v.is(v.string(), object.id) ? object.id : null;
  const Customer = v.union([v.string(), v.object({ id: v.string() })]);
  if (!v.is(Customer, object.customer)) return null;
  return typeof object.customer === 'string' ? object.customer : object.customer.id;
}
