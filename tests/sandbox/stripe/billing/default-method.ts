import type { PaymentMethod } from '../types/payment-methods.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

type Payer = Pick<Subscription, 'customer' | 'default_payment_method'>;

/** The payment method of a subscription, else the default of its customer. */
export function defaultMethod(world: World, payer: Payer): PaymentMethod | undefined {
  const customer = world.customers.find(payer.customer);
  const ids = [payer.default_payment_method, customer?.invoice_settings.default_payment_method];
  return ids
    .map((id) => (id ? world.paymentMethods.find(id) : undefined))
    .find((method) => method?.customer === payer.customer);
}
