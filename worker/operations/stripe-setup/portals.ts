import type { Stripe } from 'stripe';
import { portalMetadata } from '../../billing/catalogue.ts';
import { sha256 } from '../../lib/crypto.ts';
import { matches } from './matches.ts';
import type { SoldPlan } from './products.ts';

type Products = { product: string; prices: string[] }[];
type Configuration = Stripe.BillingPortal.Configuration;

/**
 * Stripe refuses two prices of one product with the same interval in one portal configuration. The default
 * configuration offers the current prices; each older price has its own, for the subscribers who still pay it.
 */
export async function ensurePortals(stripe: Stripe, plans: SoldPlan[], siteUrl: string, lines: string[]) {
  const list = await stripe.billingPortal.configurations.list({ active: true, limit: 100 });
  const own = list.data.filter(({ metadata }) => metadata?.solace === portalMetadata.solace);
  const offered = plans.filter(({ onSale }) => onSale);
  const common = offered.map(({ product, price }) => ({ product, prices: [price] }));
  const find = (price?: string) => own.find(({ metadata }) => metadata?.price === price);
  lines.push(`${await ensure(stripe, find(), { siteUrl, products: common })} portal configuration`);
  for (const { product, onSale, price, olderPrices } of plans) {
    for (const held of onSale ? olderPrices : [price, ...olderPrices]) {
      const others = common.filter((each) => each.product !== product);
      const products = [...others, { product, prices: [held] }];
      lines.push(
        `${await ensure(stripe, find(held), { siteUrl, products, price: held })} portal configuration for ${held}`,
      );
    }
  }
}

type Wanted = { siteUrl: string; products: Products; price?: string };

async function ensure(stripe: Stripe, present: Configuration | undefined, { siteUrl, products, price }: Wanted) {
  const wanted = {
    features: featuresWith(products),
    business_profile: { privacy_policy_url: `${siteUrl}/privacy`, terms_of_service_url: `${siteUrl}/terms` },
    default_return_url: `${siteUrl}/account`,
  };
  const digest = await sha256(JSON.stringify(wanted));
  const metadata = { ...portalMetadata, digest, ...(price && { price }) };
  if (!present) {
    await stripe.billingPortal.configurations.create({ ...wanted, metadata });
    return 'created';
  }
  if (present.metadata?.digest === digest && matches(present, withoutProducts(wanted))) return 'kept';
  await stripe.billingPortal.configurations.update(present.id, { ...wanted, metadata });
  return 'updated';
}

function featuresWith(products: Products): Stripe.BillingPortal.ConfigurationCreateParams.Features {
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
      billing_cycle_anchor: 'unchanged',
      schedule_at_period_end: { conditions: [{ type: 'decreasing_item_amount' }] },
      trial_update_behavior: 'continue_trial',
    },
  };
}

/** Stripe lists the products only on request; the digest covers them. */
function withoutProducts<T extends { features: Stripe.BillingPortal.ConfigurationCreateParams.Features }>(wanted: T) {
  const { products: _, ...update } = wanted.features.subscription_update!;
  return { ...wanted, features: { ...wanted.features, subscription_update: update } };
}
