import type { Stripe } from 'stripe';
import { invalid } from '../errors.ts';
import { methodConfiguration } from '../objects/method-configurations.ts';
import type { World } from '../types/world.ts';
import { isTaxed } from './is-taxed.ts';

type Params = Stripe.Checkout.SessionCreateParams;

/** A card can be saved at once, a bank debit cannot. */
const savable = ['card', 'link'];

/** The payment methods of the page; unless the merchant chooses, all that the account has switched on. */
export function methodsOf(world: World, { mode, allowed_payment_method_types: allowed }: Params) {
  const { id, switchedOn } = methodConfiguration(world);
  const available = switchedOn.filter((type) => (mode === 'setup' ? savable.includes(type) : type !== 'sepa_debit'));
  const types: string[] = allowed ? available.filter((type) => allowed.includes(type as 'card')) : available;
  if (types.length === 0) {
    throw invalid('No valid payment method types for this Checkout Session.', 'allowed_payment_method_types');
  }
  const options = { card: { request_three_d_secure: 'automatic' } };
  const debit = { us_bank_account: { verification_method: 'automatic' } };
  return {
    payment_method_configuration_details: { id, parent: null },
    payment_method_options: types.includes('us_bank_account') ? { ...options, ...debit } : options,
    payment_method_types: types,
  };
}

/** Stripe calculates no tax for a customer without an address, unless the page may save the address from its form. */
export function requireTaxLocation({ address }: { address: unknown }, params: Params) {
  const { customer_update: update } = params;
  if (!isTaxed(params) || address || update?.address === 'auto' || update?.shipping === 'auto') return;
  throw invalid(
    "Automatic tax calculation in Checkout requires a valid address on the Customer. Add a valid address to the Customer or set either `customer_update[address]` to 'auto' or `customer_update[shipping]` to 'auto' to save the address entered in Checkout to the Customer.",
    undefined,
    'customer_tax_location_invalid',
  );
}
