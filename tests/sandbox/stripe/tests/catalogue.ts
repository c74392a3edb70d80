import type { Stripe } from 'stripe';

const plans = [
  ['Basic', 1199],
  ['Premium', 2999],
  ['Platinum', 7999],
] as const;

export type Catalogue = { prices: Record<'basic' | 'premium' | 'platinum', string>; configuration: string };

/** Three weekly plans, and a portal that switches between them. */
export async function createCatalogue(stripe: Stripe): Promise<Catalogue> {
  const created: Catalogue['prices'] = { basic: '', premium: '', platinum: '' };
  const products = [];
  for (const [name, amount] of plans) {
    const product = await stripe.products.create({ name });
    const tier = name.toLowerCase() as keyof Catalogue['prices'];
    const recurring = { interval: 'week' } as const;
    const fields = { lookup_key: `${tier}_weekly`, metadata: { tier } };
    const price = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: amount,
      recurring,
      ...fields,
    });
    created[tier] = price.id;
    products.push({ product: product.id, prices: [price.id] });
  }
  const { id } = await stripe.billingPortal.configurations.create({ features: featuresWith(products) });
  return { prices: created, configuration: id };
}

function featuresWith(
  products: { product: string; prices: string[] }[],
): Stripe.BillingPortal.ConfigurationCreateParams.Features {
  return {
    customer_update: { enabled: true, allowed_updates: ['address', 'tax_id'] },
    invoice_history: { enabled: true },
    payment_method_update: { enabled: true },
    subscription_cancel: { enabled: true, mode: 'at_period_end', proration_behavior: 'none' },
    subscription_update: {
      enabled: true,
      default_allowed_updates: ['price'],
      products,
      proration_behavior: 'always_invoice',
      schedule_at_period_end: { conditions: [{ type: 'decreasing_item_amount' }] },
      trial_update_behavior: 'continue_trial',
    },
  };
}
