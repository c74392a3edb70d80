import type { Stripe } from 'stripe';
import { type Call, idOf, type World, liveCustomer } from '../world.ts';
import { listOf } from '../table.ts';
import { detailsOf } from './new-checkout-session.ts';
import { productName } from '../invoices/lines.ts';
import { invalid } from '../api/errors.ts';
import { createCustomer } from '../customers.ts';
import type { CheckoutSession, Customer } from '../objects.ts';
import { newPaymentMethod, attach, type TestCard } from '../payments/payment-methods.ts';
import { succeed } from '../payments/setup-intents.ts';
import { markSetUp, needsAuthentication, refuseIncomplete } from '../payments/attempt-payment.ts';
import { createSubscription } from '../subscriptions/new-subscription.ts';

export function sessionDueAt({ status, expires_at: at }: CheckoutSession): number | null {
  return status === 'open' ? at : null;
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

/** How a checkout is paid. `isAuthenticated`: the cardholder has authenticated the payment. */
export type Payment = { card: TestCard; isAuthenticated: boolean };

/** Completes a hosted checkout. Throws and changes nothing if the card is declined or needs authentication. */
export function completeCheckout(world: World, id: string, { card, isAuthenticated }: Payment): CheckoutSession {
  const session = world.checkoutSessions.get(id);
  if (session.status !== 'open') throw invalid(`This Checkout Session is ${session.status}.`);
  const customer = buyerOf(world, session);
  const method = newPaymentMethod(world, card);
  attach(world, method.id, customer.id);
  const isSaved = session.mode === 'setup' || session.amount_total === 0;
  if (isSaved && needsAuthentication(method) && !isAuthenticated) refuseIncomplete({ kind: 'action' });
  if (isSaved) markSetUp(world, method.id);
  const outcome =
    session.mode === 'setup'
      ? saveCard(world, session, method.id)
      : subscribe(world, session, customer, { method: method.id, isAuthenticated });
  return world.checkoutSessions.change(
    id,
    (session) => {
      Object.assign(session, outcome, { status: 'complete', url: null });
      Object.assign(session, { customer: customer.id, customer_details: detailsOf(customer) });
    },
    'checkout.session.completed',
  );
}

function buyerOf(world: World, { customer, customer_email: email }: CheckoutSession): Customer {
  if (customer) return liveCustomer(world, customer, 'customer');
  return createCustomer(world, { params: email ? { email } : {} });
}

function saveCard(world: World, session: CheckoutSession, method: string): Partial<CheckoutSession> {
  if (session.setup_intent) succeed(world, session.setup_intent, method);
  return { payment_status: 'no_payment_required' };
}

function subscribe(
  world: World,
  session: CheckoutSession,
  customer: Customer,
  { method, isAuthenticated }: { method: string; isAuthenticated: boolean },
): Partial<CheckoutSession> {
  const { lineItems, subscriptionData: data } = session._;
  const order: Stripe.SubscriptionCreateParams = {
    customer: customer.id,
    default_payment_method: method,
    items: lineItems.map(({ price, quantity }) => ({ price, quantity })),
    payment_behavior: 'error_if_incomplete',
    ...(data.billing_mode && { billing_mode: data.billing_mode }),
    ...(data.description !== undefined && { description: data.description }),
    ...(data.metadata && { metadata: data.metadata }),
    ...(data.trial_end !== undefined && { trial_end: data.trial_end }),
    ...(data.trial_period_days !== undefined && { trial_period_days: data.trial_period_days }),
    ...(data.trial_settings && { trial_settings: data.trial_settings }),
  };
  const { id, status, latest_invoice: invoice } = createSubscription(world, order, { isAuthenticated });
  const isPaid = invoice !== null && world.invoices.get(invoice).status === 'paid';
  const payment_status = status === 'trialing' ? 'no_payment_required' : isPaid ? 'paid' : 'unpaid';
  return { invoice, payment_status, subscription: id };
}
