import { attemptPayment, authenticationFailed, failIntent } from './attempt-payment.ts';
import { failInvoice } from './collect-invoice.ts';
import { settleInvoice } from './settle-invoice.ts';
import type { Invoice } from '../types/invoices.ts';
import type { World } from '../types/world.ts';

/** Whether the payment of an invoice waits for authentication by the cardholder. */
export function awaitsAuthentication(world: World, { status, _: { paymentIntent } }: Invoice): boolean {
  return status === 'open' && world.paymentIntents.find(paymentIntent ?? '')?.status === 'requires_action';
}

/** Completes or fails the authentication that the payment of an invoice waits for. */
export function authenticateInvoice(world: World, id: string, { succeeds }: { succeeds: boolean }): Invoice {
  const {
    _: { paymentIntent },
  } = world.invoices.get(id);
  const intent = world.paymentIntents.get(paymentIntent ?? '');
  if (!succeeds) {
    failIntent(world, intent.id, authenticationFailed);
    failInvoice(world, id, { kind: 'declined' });
    return world.invoices.get(id);
  }
  const method = world.paymentMethods.get(intent.payment_method ?? '');
  const outcome = attemptPayment(world, intent.id, method, { isAuthenticated: true });
  if (outcome.kind === 'paid') {
    world.invoices.change(id, (invoice) => void (invoice.attempt_count ||= 1), null);
    return settleInvoice(world, id);
  }
  failInvoice(world, id, { kind: 'declined' });
  return world.invoices.get(id);
}
