import { decline } from './test-cards.ts';
import { failIntent } from './attempt-payment.ts';
import { failInvoice } from './collect-invoice.ts';
import { planRetry } from './retries.ts';
import { settleInvoice } from './settle-invoice.ts';
import type { World } from '../types/world.ts';

/** Settles a bank debit that was started days ago. */
export function settleDebit(world: World, id: string): void {
  const intent = world.paymentIntents.get(id);
  const charge = intent.latest_charge ?? '';
  const isPaid = !world.paymentMethods.get(intent.payment_method ?? '')._.declines;
  world.charges.change(
    charge,
    (charge) => Object.assign(charge, { status: isPaid ? 'succeeded' : 'failed', paid: isPaid }),
    isPaid ? 'charge.succeeded' : 'charge.failed',
  );
  if (isPaid) succeed(world, id);
  else failIntent(world, id, decline, charge);
  const { invoice } = intent._;
  if (invoice) finish(world, invoice, isPaid);
}

function succeed(world: World, id: string): void {
  world.paymentIntents.change(
    id,
    (intent) => Object.assign(intent, { status: 'succeeded', amount_received: intent.amount }),
    'payment_intent.succeeded',
  );
}

function finish(world: World, invoice: string, isPaid: boolean): void {
  if (isPaid) settleInvoice(world, invoice);
  else {
    failInvoice(world, invoice, { kind: 'declined' });
    planRetry(world, invoice);
  }
  const session = world.checkoutSessions.all().find((session) => session.invoice === invoice);
  if (!session) return;
  const event = `checkout.session.async_payment_${isPaid ? 'succeeded' : 'failed'}`;
  world.checkoutSessions.change(
    session.id,
    (session) => void (session.payment_status = isPaid ? 'paid' : 'unpaid'),
    event,
  );
}
