import type { Stripe } from 'stripe';
import { type Call, idOf, type World, given, mergeMetadata, newMetadata } from './world.ts';
import { newId, newObject } from './table.ts';
import type { Plan, Product, Price } from './objects.ts';
import { invalid } from './api/errors.ts';
import { requirePayable } from './currencies.ts';

export function createProduct(world: World, { params }: Call<Stripe.ProductCreateParams>): Product {
  return world.products.insert({
    id: newId('prod_', 14),
    object: 'product',
    created: world.now(),
    updated: world.now(),
    name: params.name,
    ...given(params, 'description'),
    metadata: newMetadata(params.metadata),
  });
}

export function updateProduct(world: World, call: Call<Stripe.ProductUpdateParams>): Product {
  const { params } = call;
  return world.products.change(idOf(call), (product) => {
    Object.assign(product, given(params, 'active', 'description', 'name'));
    product.metadata = mergeMetadata(product.metadata, params.metadata);
    product.updated = world.now();
  });
}

type NewPrice = Required<
  Pick<Stripe.PriceCreateParams, 'currency' | 'product' | 'recurring' | 'unit_amount'>
> &
  Stripe.PriceCreateParams;

export function createPrice(world: World, { params }: Call<NewPrice>): Price {
  const { currency, recurring, unit_amount: amount } = params;
  requirePayable(amount, currency.toLowerCase(), 'unit_amount');
  if (amount < 1) throw invalid('The local Stripe sells nothing for free.', 'unit_amount');
  const product = world.products.get(params.product, 'product').id;
  claimLookupKey(world, params);
  return world.prices.insert({
    id: newId('price_1'),
    object: 'price',
    created: world.now(),
    currency: currency.toLowerCase(),
    ...given(params, 'lookup_key'),
    metadata: newMetadata(params.metadata),
    product,
    recurring: {
      interval_count: 1,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
      ...recurring,
    },
    unit_amount: amount,
    unit_amount_decimal: String(amount),
  });
}

type Claim = Pick<Stripe.PriceUpdateParams, 'lookup_key' | 'transfer_lookup_key'>;

function claimLookupKey(
  world: World,
  { lookup_key: key, transfer_lookup_key: transfer }: Claim,
  by?: Price,
): void {
  const present = key ? world.prices.all().find((price) => price.lookup_key === key) : undefined;
  if (!present || present.id === by?.id) return;
  if (!transfer) {
    throw invalid(
      `A price (\`${present.id}\`) already uses that lookup key. Use \`transfer_lookup_key\` to transfer it.`,
      'lookup_key',
      'resource_already_exists',
    );
  }
  world.prices.change(present.id, { lookup_key: null });
}

/** Everything but the amount, which a price keeps for good. */
export function updatePrice(world: World, call: Call<Stripe.PriceUpdateParams>): Price {
  const { params } = call;
  const current = world.prices.get(idOf(call));
  claimLookupKey(world, params, current);
  const metadata = mergeMetadata(current.metadata, params.metadata);
  return world.prices.change(current.id, {
    ...given(params, 'active', 'lookup_key'),
    metadata,
  });
}

/** The active price of an id; throws for others, which cannot be sold. */
export function recurringPrice(world: World, id: string, param: string): Price {
  const price = world.prices.get(id, param);
  if (price.active) return price;
  throw invalid('The price specified is inactive. This field only accepts active prices.', param);
}

/** A price in the format of the older Plan object, which subscription items still contain. */
export function planOf(price: Price): object {
  const { id, active, created, currency, metadata, nickname, product } = price;
  const { unit_amount: amount, unit_amount_decimal: amount_decimal } = price;
  const { interval, interval_count } = price.recurring;
  const period = { interval, interval_count };
  const amounts = { amount, amount_decimal, currency };
  return newObject<Plan>({
    id,
    object: 'plan',
    active,
    created,
    metadata,
    nickname,
    product,
    ...amounts,
    ...period,
  });
}
