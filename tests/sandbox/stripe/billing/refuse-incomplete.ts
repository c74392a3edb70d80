import { declined } from '../errors.ts';
import type { Outcome } from './attempt-payment.ts';

export const actionRequired = 'subscription_payment_intent_requires_action';

/** Implements `error_if_incomplete`: throws 402 for a payment that failed or needs authentication. */
export function refuseIncomplete(outcome: Outcome): void {
  if (outcome.kind === 'declined') throw declined(outcome.decline, false);
  if (outcome.kind !== 'action') return;
  const message =
    'Payment for this subscription requires additional user action before it can be completed successfully. Payment can be completed using the PaymentIntent associated with subscription.latest_invoice. If you would like to update the subscription without any additional user action, set payment_behavior to allow_incomplete.';
  throw declined({ code: actionRequired, message }, false);
}
