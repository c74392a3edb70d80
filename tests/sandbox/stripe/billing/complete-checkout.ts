import { createCustomer } from '../objects/customers.ts';
import { liveCustomer } from '../objects/live-customer.ts';
import { newBankAccount, newPaymentMethod } from '../objects/new-payment-method.ts';
import { succeed } from '../objects/setup-intents.ts';
import { invalid } from '../errors.ts';
import type { Stripe } from 'stripe';
import { attach } from './attach-method.ts';
import { markSetUp, needsAuthentication } from './attempt-payment.ts';
import { createSubscription } from './create-subscription.ts';
import { detailsOf } from './new-checkout-session.ts';
import { refuseIncomplete } from './refuse-incomplete.ts';
import type { TestCard } from './test-cards.ts';
import type { CheckoutSession } from '../types/checkout-sessions.ts';
import type { Customer } from '../types/customers.ts';
import type { World } from '../types/world.ts';

/** How a checkout is paid. `isAuthenticated`: the cardholder has authenticated the payment. */
export type Payment = { card: TestCard | 'us_bank_account'; isAuthenticated: boolean };

/** Completes a hosted checkout. Throws and changes nothing if the card is declined or needs authentication. */
export function completeCheckout(world: World, id: string, { card, isAuthenticated }: Payment): CheckoutSession {
  const session = world.checkoutSessions.get(id);
  if (session.status !== 'open') throw invalid(`This Checkout Session is ${session.status}.`);
  const customer = buyerOf(world, session);
  const method = card === 'us_bank_account' ? newBankAccount(world) : newPaymentMethod(world, card);
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
