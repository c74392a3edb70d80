import { declined, invalid, missing, notFound } from '../errors.ts';
import { newPaymentMethod } from '../objects/new-payment-method.ts';
import { findTestCard } from './test-cards.ts';
import type { PaymentMethod } from '../types/payment-methods.ts';
import type { World } from '../types/world.ts';

/** The payment method of an id; a test card's name such as `pm_card_visa` creates one. `param` as in `Table.get`. */
export function methodNamed(world: World, id: string, param?: string): PaymentMethod {
  const named = id.startsWith('pm_card_') ? findTestCard(id) : undefined;
  if (named) return newPaymentMethod(world, named);
  const found = world.paymentMethods.find(id);
  if (found) return found;
  throw param === undefined ? notFound('PaymentMethod', id, 'payment_method') : missing('PaymentMethod', id, param);
}

/** Saves a payment method for a customer. Throws 402 when its bank refuses it. */
export function attach(world: World, id: string, customer: string, param?: string): PaymentMethod {
  const method = methodNamed(world, id, param);
  if (method.customer === customer) return method;
  if (method.customer) throw invalid('The payment method you provided has already been attached to a customer.');
  if (method._.isUsed) {
    throw invalid(
      'This PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, and may not be used again.',
    );
  }
  const refused = findTestCard(method._.number)?.refused;
  if (refused) throw declined(refused, false);
  return world.paymentMethods.change(
    method.id,
    (method) => void (method.customer = customer),
    'payment_method.attached',
  );
}
