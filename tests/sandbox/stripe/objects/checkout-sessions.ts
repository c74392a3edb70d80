import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, listOf, pageOf } from '../api/page.ts';
import { newCheckoutSession } from '../billing/new-checkout-session.ts';
import { productName } from '../billing/lines.ts';
import { invalid } from '../errors.ts';
import { requireCustomer } from './live-customer.ts';
import type { CheckoutSession } from '../types/checkout-sessions.ts';
import type { World } from '../types/world.ts';

export function sessionDueAt({ status, expires_at: at }: CheckoutSession): number | null {
  return status === 'open' ? at : null;
}

export function createCheckoutSession(
  world: World,
  { params }: Call<Stripe.Checkout.SessionCreateParams>,
): CheckoutSession {
  return newCheckoutSession(world, params);
}

export function retrieveCheckoutSession(world: World, call: Call): CheckoutSession {
  return world.checkoutSessions.get(idOf(call));
}

export function expireCheckoutSession(world: World, call: Call): CheckoutSession {
  const { id, status } = world.checkoutSessions.get(idOf(call));
  if (status === 'open') return expireSession(world, id);
  throw invalid(
    `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of \`${status}\`.`,
  );
}

export function expireSession(world: World, id: string): CheckoutSession {
  return world.checkoutSessions.change(
    id,
    (session) => void Object.assign(session, { status: 'expired', url: null }),
    'checkout.session.expired',
  );
}

export function listCheckoutSessions(world: World, { params }: Call<Stripe.Checkout.SessionListParams>) {
  const { customer, subscription, status, created } = params;
  requireCustomer(world, customer);
  const found = world.checkoutSessions
    .all()
    .filter((session) => customer === undefined || session.customer === customer)
    .filter((session) => subscription === undefined || session.subscription === subscription)
    .filter((session) => status === undefined || session.status === status)
    .filter((session) => inRange(session.created, created));
  return pageOf(found, params, '/v1/checkout/sessions', world.checkoutSessions);
}

/** The items that a session sells, in the format of `line_items`. */
export function lineItemsOf(world: World, session: CheckoutSession) {
  const data = session._.lineItems.map(({ id, price: priceId, quantity }) => {
    const price = world.prices.get(priceId);
    const amount = price.unit_amount * quantity;
    const amounts = { amount_discount: 0, amount_subtotal: amount, amount_tax: 0, amount_total: amount };
    const { currency } = price;
    const description = productName(world, price);
    return {
      id,
      object: 'item',
      adjustable_quantity: null,
      ...amounts,
      currency,
      description,
      metadata: {},
      price,
      quantity,
    };
  });
  return listOf(data, `/v1/checkout/sessions/${session.id}/line_items`);
}
