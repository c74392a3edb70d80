import type { Stripe } from 'stripe';
import { lookupKeyOf } from '../../billing/catalogue.ts';
import { plans, type PaidPlanId } from '../../contract/plans.ts';

/** A plan's objects at Stripe. */
export type SoldPlan = {
  product: string;
  onSale: boolean;
  /** The current price. */
  price: string;
  /** Earlier prices of the product, which subscribers may still pay. */
  olderPrices: string[];
};

/** The product and prices of a plan. A plan off sale is not changed; null if it was never sold. */
export async function ensurePlan(stripe: Stripe, tier: PaidPlanId, lines: string[]): Promise<SoldPlan | null> {
  const { onSale } = plans[tier];
  const present = await findProduct(stripe, tier);
  if (!onSale && !present) return null;
  const product = onSale ? await ensureProduct(stripe, tier, present, lines) : present!.id;
  const all = await stripe.prices.list({ product, limit: 100 }).autoPagingToArray({ limit: 1000 });
  const weekly = all.filter(({ recurring }) => recurring?.interval === 'week');
  const current = weekly.find((price) => price.lookup_key === lookupKeyOf(tier) && price.active);
  const price = onSale ? await ensurePrice(stripe, { product, tier, current }, lines) : current?.id;
  if (!onSale) lines.push(`kept product ${plans[tier].name}, which is off sale`);
  const olderPrices = weekly.map(({ id }) => id).filter((id) => id !== price);
  return price ? { product, onSale, price, olderPrices } : null;
}

async function findProduct(stripe: Stripe, tier: PaidPlanId): Promise<Stripe.Product | undefined> {
  for await (const product of stripe.products.list({ active: true })) {
    if (product.metadata.tier === tier) return product;
  }
  return undefined;
}

async function ensureProduct(stripe: Stripe, tier: PaidPlanId, present: Stripe.Product | undefined, lines: string[]) {
  const { name, description } = plans[tier];
  const wanted = { name, description };
  if (!present) {
    lines.push(`created product ${name}`);
    return (await stripe.products.create({ ...wanted, metadata: { tier } })).id;
  }
  const same = present.name === name && present.description === description;
  if (!same) await stripe.products.update(present.id, wanted);
  lines.push(`${same ? 'kept' : 'updated'} product ${name}`);
  return present.id;
}

type Wanted = { product: string; tier: PaidPlanId; current: Stripe.Price | undefined };

/** The amount of a price is immutable, so a new amount needs a new price; the lookup key moves to it. */
async function ensurePrice(stripe: Stripe, { product, tier, current }: Wanted, lines: string[]): Promise<string> {
  const lookup_key = lookupKeyOf(tier);
  const { weeklyCents } = plans[tier];
  if (current?.unit_amount === weeklyCents) {
    lines.push(`kept price ${lookup_key}`);
    return current.id;
  }
  const { id } = await stripe.prices.create({
    product,
    currency: 'usd',
    unit_amount: weeklyCents,
    recurring: { interval: 'week', interval_count: 1, usage_type: 'licensed' },
    lookup_key,
    transfer_lookup_key: true,
    metadata: { tier },
  });
  lines.push(`created price ${lookup_key}`);
  return id;
}
