import type { Stripe } from 'stripe';
import { type Call, idOf, type World, given, mergeMetadata, newMetadata } from './world.ts';
import { newId, withBlanks } from './table.ts';
import type { Plan, Product, Price } from './objects.ts';
import { invalid } from './api/errors.ts';

export function createProduct(world: World, { params }: Call<Stripe.ProductCreateParams>): Product {
  const product = newProduct(world, params);
  const { default_price_data: price } = params;
  if (!price) return product;
  const { id } = createPrice(world, { params: { ...price, product: product.id } });
  return world.products.change(product.id, (product) => void (product.default_price = id), null);
}

export function updateProduct(world: World, call: Call<Stripe.ProductUpdateParams>): Product {
  const { metadata, images, expand: _, ...fields } = call.params;
  return world.products.change(idOf(call), (product) => {
    Object.assign(product, given(fields, ...(Object.keys(fields) as (keyof typeof fields)[])));
    if (images !== undefined) product.images = images || [];
    product.metadata = mergeMetadata(product.metadata, metadata);
    product.updated = world.now();
  });
}

/** A product without a price. */
function newProduct(world: World, params: Stripe.ProductCreateParams): Product {
  if (params.id && world.products.find(params.id)) {
    throw invalid('Product already exists.', 'id', 'resource_already_exists');
  }
  return world.products.insert({
    id: params.id ?? newId('prod_', 14),
    object: 'product',
    active: params.active ?? true,
    created: world.now(),
    updated: world.now(),
    name: params.name,
    ...given(params, 'description', 'statement_descriptor', 'tax_code', 'unit_label', 'url'),
    default_price: null,
    images: params.images ?? [],
    marketing_features: params.marketing_features ?? [],
    metadata: newMetadata(params.metadata),
    type: 'service',
  });
}

export function createPrice(world: World, { params }: Pick<Call<Stripe.PriceCreateParams>, 'params'>): Price {
  if (params.unit_amount === undefined)
    throw invalid('Missing required param: unit_amount.', 'unit_amount', 'parameter_missing');
  const product = productOf(world, params);
  claimLookupKey(world, params.lookup_key, params.transfer_lookup_key);
  return world.prices.insert({
    billing_scheme: 'per_unit',
    id: newId('price_1'),
    object: 'price',
    active: params.active ?? true,
    created: world.now(),
    currency: params.currency.toLowerCase(),
    ...given(params, 'lookup_key', 'nickname'),
    metadata: newMetadata(params.metadata),
    product,
    recurring: recurringOf(params),
    tax_behavior: params.tax_behavior ?? 'unspecified',
    type: params.recurring ? 'recurring' : 'one_time',
    unit_amount: params.unit_amount,
    unit_amount_decimal: String(params.unit_amount),
  });
}

function productOf(world: World, params: Stripe.PriceCreateParams): string {
  if (params.product) return world.products.get(params.product, 'product').id;
  const data = params.product_data;
  if (!data) throw invalid('You must specify either `product` or `product_data` when creating a price.', 'product');
  return newProduct(world, { name: data.name, ...(data.metadata && { metadata: data.metadata }) }).id;
}

function recurringOf({ recurring }: Stripe.PriceCreateParams): Price['recurring'] {
  if (!recurring) return null;
  const { interval, interval_count = 1, usage_type = 'licensed' } = recurring;
  if (usage_type !== 'licensed') throw invalid('Only licensed prices are sold here.', 'recurring[usage_type]');
  return { interval, interval_count, meter: null, trial_period_days: null, usage_type };
}

function claimLookupKey(world: World, key: string | undefined, transfer = false): void {
  const present = key ? world.prices.all().find((price) => price.lookup_key === key) : undefined;
  if (!present) return;
  if (!transfer) {
    throw invalid(
      `A price (\`${present.id}\`) already uses that lookup key. Use \`transfer_lookup_key\` to transfer it.`,
      'lookup_key',
      'resource_already_exists',
    );
  }
  world.prices.change(present.id, (price) => void (price.lookup_key = null));
}

/** Everything but the amount, which a price keeps for good. */
export function updatePrice(world: World, call: Call<Stripe.PriceUpdateParams>): Price {
  const { params } = call;
  const current = world.prices.get(idOf(call));
  if (params.lookup_key && params.lookup_key !== current.lookup_key) {
    claimLookupKey(world, params.lookup_key, params.transfer_lookup_key);
  }
  return world.prices.change(current.id, (price) => {
    Object.assign(price, given(params, 'active', 'lookup_key', 'nickname', 'tax_behavior'));
    price.metadata = mergeMetadata(price.metadata, params.metadata);
  });
}

/** The active recurring price of an id; throws for others, which a subscription cannot contain. */
export function recurringPrice(world: World, id: string, param: string): Price {
  const price = world.prices.get(id, param);
  if (!price.active) throw invalid('The price specified is inactive. This field only accepts active prices.', param);
  if (!price.recurring) {
    throw invalid(
      'The price specified is set to `type=one_time` but this field only accepts prices with `type=recurring`.',
      param,
    );
  }
  return price;
}

/** A price in the format of the older Plan object, which subscription items still contain. */
export function planOf(price: Price): object {
  return withBlanks<Plan>({
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'week',
    interval_count: price.recurring?.interval_count ?? 1,
    metadata: price.metadata,
    nickname: price.nickname,
    product: price.product,
    usage_type: 'licensed',
  });
}
