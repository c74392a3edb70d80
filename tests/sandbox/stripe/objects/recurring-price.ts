import { invalid } from '../errors.ts';
import type { Price } from '../types/prices.ts';
import type { World } from '../types/world.ts';

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
