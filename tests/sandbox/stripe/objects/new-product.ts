import type { Stripe } from 'stripe';
import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import type { Product } from '../types/products.ts';
import type { World } from '../types/world.ts';
import { newMetadata } from './metadata.ts';

const untouched = { livemode: false, package_dimensions: null, shippable: null, tax_details: null, type: 'service' };

/** A product without a price. */
export function newProduct(world: World, params: Stripe.ProductCreateParams): Product {
  if (params.id && world.products.find(params.id)) {
    throw invalid('Product already exists.', 'id', 'resource_already_exists');
  }
  return world.products.insert({
    ...untouched,
    id: params.id ?? newId('prod_', 14),
    object: 'product',
    active: params.active ?? true,
    created: world.now(),
    updated: world.now(),
    name: params.name,
    description: params.description ?? null,
    default_price: null,
    images: params.images ?? [],
    marketing_features: params.marketing_features ?? [],
    metadata: newMetadata(params.metadata),
    statement_descriptor: params.statement_descriptor ?? null,
    tax_code: params.tax_code ?? null,
    unit_label: params.unit_label ?? null,
    url: params.url ?? null,
  });
}
