import type { Stripe } from 'stripe';

const live: ReadonlySet<string> = new Set(['active', 'trialing', 'past_due', 'unpaid', 'paused']);

/** Whether a subscription still runs, well or badly: it can be changed in the portal, and can charge. */
export function isLive({ status }: Pick<Stripe.Subscription, 'status'>): boolean {
  return live.has(status);
}
