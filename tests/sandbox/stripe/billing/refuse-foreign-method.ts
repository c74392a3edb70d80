import { invalid } from '../errors.ts';
import type { PaymentMethod } from '../types/payment-methods.ts';

/** Throws where an intent would use another customer's payment method. */
export function refuseForeignMethod(
  method: PaymentMethod,
  customer: string | null,
  intent: 'PaymentIntent' | 'SetupIntent',
): void {
  if (!method.customer || method.customer === customer) return;
  const message = customer
    ? `The PaymentMethod ${method.id} does not belong to the Customer you supplied ${customer}. Please use this PaymentMethod with the Customer that it belongs to instead.`
    : `The payment method supplied (${method.id}) belongs to the Customer ${method.customer}. Please include the Customer in the \`customer\` parameter on the ${intent}.`;
  throw invalid(message, 'payment_method');
}
