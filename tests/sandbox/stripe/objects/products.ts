import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { inRange, pageOf } from '../api/page.ts';
import { newProduct } from './new-product.ts';
import { createPrice } from './prices.ts';
import { mergeMetadata } from './metadata.ts';
import type { Product } from '../types/products.ts';
import type { World } from '../types/world.ts';

export function createProduct(world: World, { params }: Call<Stripe.ProductCreateParams>): Product {
  const product = newProduct(world, params);
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

export function listProducts(world: World, { params }: Call<Stripe.ProductListParams>) {
  const found = world.products
    .all()
    .filter((product) => params.active === undefined || product.active === params.active)
    .filter((product) => params.ids === undefined || params.ids.includes(product.id))
    .filter((product) => inRange(product.created, params.created));
  return pageOf(found, params, '/v1/products', world.products);
}
