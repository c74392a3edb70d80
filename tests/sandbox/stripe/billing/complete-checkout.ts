import type { CheckoutSession } from '../objects/checkout-sessions.ts';
import { createCustomer, type Customer, liveCustomer } from '../objects/customers.ts';
import { attach, newPaymentMethod } from '../objects/payment-methods.ts';
import { succeed } from '../objects/setup-intents.ts';
import { invalid } from '../errors.ts';
import type { World } from '../world.ts';
import { createSubscription } from './create-subscription.ts';
import { detailsOf } from './new-checkout-session.ts';
import type { TestCard } from './test-cards.ts';

/** What the button of a hosted checkout does. A declined card throws and changes nothing. */
export function completeCheckout(world: World, id: string, card: TestCard): CheckoutSession {
  const session = world.checkoutSessions.get(id);
  if (session.status !== 'open') throw invalid(`This Checkout Session is ${session.status}.`);
  const customer = buyerOf(world, session);
  const method = newPaymentMethod(world, card);
  attach(world, method.id, customer.id);
  const outcome =
    session.mode === 'setup' ? saveCard(world, session, method.id) : subscribe(world, session, customer, method.id);
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
  return createCustomer(world, { params: email ? { email } : {}, ids: {} });
}

function saveCard(world: World, session: CheckoutSession, method: string): Partial<CheckoutSession> {
  if (session.setup_intent) succeed(world, session.setup_intent, method);
  return { payment_status: 'no_payment_required' };
}

function subscribe(
  world: World,
  session: CheckoutSession,
  customer: Customer,
  method: string,
): Partial<CheckoutSession> {
  const { lineItems, subscriptionData: data } = session._;
  const subscription = createSubscription(world, {
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
  });
  const isTrial = subscription.status === 'trialing';
  return {
    invoice: subscription.latest_invoice,
    payment_status: isTrial ? 'no_payment_required' : 'paid',
    subscription: subscription.id,
  };
}
