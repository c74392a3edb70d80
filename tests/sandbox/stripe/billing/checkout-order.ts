import type { Stripe } from 'stripe';
import { invalid, type StripeError } from '../errors.ts';
import { newId } from '../ids.ts';
import { day } from '../interval.ts';
import { recurringPrice } from '../objects/recurring-price.ts';
import type { CheckoutSession } from '../types/checkout-sessions.ts';
import type { World } from '../types/world.ts';

type Params = Stripe.Checkout.SessionCreateParams;

export function modeOf(params: Params): 'setup' | 'subscription' {
  const { mode, ui_mode: ui = 'hosted_page', success_url: successUrl } = params;
  if (mode !== 'setup' && mode !== 'subscription')
    throw invalid('The local Stripe sells subscriptions and saves cards.', 'mode');
  if (ui !== 'hosted_page') throw invalid('The local Stripe has hosted pages only.', 'ui_mode');
  if (!successUrl) throw missingParam('success_url');
  if (mode === 'setup' && !params.currency && !params.allowed_payment_method_types) {
    throw invalid(
      '`currency` is required in `setup` mode when `allowed_payment_method_types` is not set.',
      'currency',
      'parameter_missing',
    );
  }
  return mode as 'setup' | 'subscription';
}

function missingParam(name: string): StripeError {
  return invalid(`Missing required param: ${name}.`, name, 'parameter_missing');
}

export function readLineItems(
  world: World,
  { line_items: given = [], subscription_data: data }: Params,
): CheckoutSession['_']['lineItems'] {
  if (given.length === 0) throw missingParam('line_items');
  const end = data?.trial_end;
  if (end !== undefined && end < world.now() + 2 * day) {
    throw invalid('The `trial_end` date has to be at least 2 days in the future.', 'subscription_data[trial_end]');
  }
  return given.map(({ price, quantity = 1 }, index) => {
    const found = recurringPrice(world, price ?? '', `line_items[${index}][price]`);
    return { id: newId('li_1'), price: found.id, quantity };
  });
}

export function refuseLineItems(params: Params): [] {
  for (const name of ['line_items', 'subscription_data', 'payment_method_collection'] as const) {
    if (params[name] !== undefined) throw invalid(`You can not pass \`${name}\` in \`setup\` mode.`, name);
  }
  return [];
}

export function expiryOf(world: World, { expires_at: at }: Params): number {
  if (at === undefined) return world.now() + day;
  if (at < world.now() + 1800 || at > world.now() + day) {
    throw invalid(
      'The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.',
      'expires_at',
    );
  }
  return at;
}

export function priced(
  world: World,
  lineItems: CheckoutSession['_']['lineItems'],
  { currency, subscription_data: data = {} }: Params,
) {
  if (lineItems.length === 0) return { amount_subtotal: null, amount_total: null, currency: currency ?? null };
  const prices = lineItems.map(({ price, quantity }) => ({ ...world.prices.get(price), quantity }));
  const total = prices.reduce((sum, price) => sum + price.unit_amount * price.quantity, 0);
  const due = data.trial_end === undefined && data.trial_period_days === undefined ? total : 0;
  return { amount_subtotal: due, amount_total: due, currency: prices[0]?.currency ?? null };
}
