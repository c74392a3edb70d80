import { invalid } from '../errors.ts';
import type { Features } from '../types/portal-features.ts';
import type { Price } from '../types/prices.ts';
import type { World } from '../types/world.ts';

/** The products that a configuration offers. Throws for what Stripe refuses. */
export function readProducts(
  world: World,
  { enabled, products, default_allowed_updates: updates }: Features['subscription_update'],
) {
  if (!enabled) return products;
  const param = 'features[subscription_update][products]';
  if (products.length === 0 || updates.length === 0)
    throw invalid('Subscription updates need products and allowed updates.', param, 'parameter_missing');
  if (products.length > 10) throw invalid('A configuration can have at most 10 products.', param);
  for (const [index, { product, prices }] of products.entries()) {
    world.products.get(product, `${param}[${index}][product]`);
    const found = prices.map((price, at) => world.prices.get(price, `${param}[${index}][prices][${at}]`));
    refuseSameInterval(found, `${param}[${index}][prices]`);
  }
  return products.map((entry) => ({ adjustable_quantity: { enabled: false, maximum: null, minimum: 1 }, ...entry }));
}

/** Stripe shows one price for each product and interval. */
function refuseSameInterval(prices: Price[], param: string): void {
  const intervals = prices.map(({ recurring, currency }) =>
    [currency, recurring?.interval_count, recurring?.interval].join(' '),
  );
  const index = intervals.findIndex((interval, at) => intervals.indexOf(interval) !== at);
  if (index === -1) return;
  throw invalid(
    `Each product can have only one price for each billing interval: ${prices[index]?.id} has the same interval as another price of its product.`,
    param,
  );
}
