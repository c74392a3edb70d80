import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import type { World } from '../world.ts';
import { createPrice } from './prices.ts';
import { type Metadata, mergeMetadata, newMetadata } from './metadata.ts';

export type Product = {
  id: string;
  object: 'product';
  active: boolean;
  created: number;
  updated: number;
  name: string;
  description: string | null;
  default_price: string | null;
  images: string[];
  marketing_features: object[];
  metadata: Metadata;
  statement_descriptor: string | null;
  tax_code: string | null;
  unit_label: string | null;
  url: string | null;
};

const untouched = { livemode: false, package_dimensions: null, shippable: null, tax_details: null, type: 'service' };

export function createProduct(world: World, { params }: Call<Stripe.ProductCreateParams>): Product {
  if (params.id && world.products.find(params.id)) {
    throw invalid('Product already exists.', 'id', 'resource_already_exists');
  }
  const product = world.products.insert({
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
  const { default_price_data: price } = params;
  if (!price) return product;
  const { id } = createPrice(world, { params: { ...price, product: product.id }, ids: {} });
  return world.products.change(product.id, (product) => void (product.default_price = id), null);
}

export function updateProduct(world: World, call: Call<Stripe.ProductUpdateParams>): Product {
  const { metadata, images, expand: _, ...fields } = call.params;
  return world.products.change(idOf(call), (product) => {
    Object.assign(
      product,
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value === '' ? null : value])),
    );
    if (images !== undefined) product.images = images || [];
    product.metadata = mergeMetadata(product.metadata, metadata);
    product.updated = world.now();
  });
}

export function retrieveProduct(world: World, call: Call): Product {
  return world.products.get(idOf(call));
}

export function listProducts(world: World, { params }: Call<Stripe.ProductListParams>) {
  const found = world.products
    .all()
    .filter((product) => params.active === undefined || product.active === params.active)
    .filter((product) => params.ids === undefined || params.ids.includes(product.id))
    .filter((product) => inRange(product.created, params.created));
  return pageOf(found, params, '/v1/products', world.products);
}

export function deleteProduct(world: World, call: Call): object {
  const product = world.products.get(idOf(call));
  if (world.prices.all().some((price) => price.product === product.id)) {
    throw invalid('This product cannot be deleted because it has one or more user-created prices.', 'id');
  }
  world.products.remove(product.id);
  world.emit('product.deleted', product);
  return { id: product.id, object: 'product', deleted: true };
}
