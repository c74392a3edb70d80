import type { Stripe } from 'stripe';
import { type Call } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import type { InvoicePayment } from '../types/invoice-payments.ts';
import type { World } from '../types/world.ts';

export function listInvoicePayments(world: World, { params }: Call<Stripe.InvoicePaymentListParams>) {
  const { payment, status, created } = params;
  const found = paymentsOf(world, params.invoice)
    .filter((each) => status === undefined || each.status === status)
    .filter((each) => payment === undefined || each.payment.payment_intent === payment.payment_intent)
    .filter((each) => inRange(each.created, created));
  return pageOf(found, params, '/v1/invoice_payments', world.invoicePayments);
}

/** An invoice's payments, or all of them. */
export function paymentsOf(world: World, invoice: string | undefined): InvoicePayment[] {
  return world.invoicePayments.all().filter((payment) => invoice === undefined || payment.invoice === invoice);
}
