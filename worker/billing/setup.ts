import type { Stripe } from 'stripe';
import { paidPlanIds, plans, type PaidPlanId } from '../contract/plans.ts';
import { sha256 } from '../hex.ts';
import { holds } from './holds.ts';
import { portalMark } from './portal-mark.ts';
import { lookupKeyOf } from './tier-of-price.ts';
import { subscribedEvents } from './subscribed-events.ts';

/** What a run did: one line per thing, and the webhook's secret when the endpoint was made. */
export type SetupReport = { lines: string[]; webhookSecret: string | null };

const apiVersion = '2026-10-28.endive';

/** Makes the Stripe account fit: products, weekly prices, portal and webhook. Running it twice changes nothing. */
export async function setUpStripe(stripe: Stripe, siteUrl: string): Promise<SetupReport> {
  const lines: string[] = [];
  const prices = new Map<string, string[]>();
  for (const tier of paidPlanIds) {
    const product = await ensureProduct(stripe, tier, lines);
    prices.set(product, await ensurePrices(stripe, product, tier, lines));
  }
  await ensurePortal(stripe, prices, siteUrl, lines);
  const webhookSecret = await ensureWebhook(stripe, `${siteUrl}/api/webhooks/stripe`, lines);
  return { lines, webhookSecret };
}

async function ensureProduct(stripe: Stripe, tier: PaidPlanId, lines: string[]): Promise<string> {
  const { name, description } = plans[tier];
  const wanted = { name, description };
  for await (const product of stripe.products.list({ active: true })) {
    if (product.metadata.tier !== tier) continue;
    const same = product.name === wanted.name && product.description === wanted.description;
    if (!same) await stripe.products.update(product.id, wanted);
    lines.push(`${same ? 'kept' : 'updated'} product ${wanted.name}`);
    return product.id;
  }
  const created = await stripe.products.create({ ...wanted, metadata: { tier } });
  lines.push(`created product ${wanted.name}`);
  return created.id;
}

/** A price's amount is immutable: a new amount is a new price that takes the lookup key over. Answers all prices sold. */
async function ensurePrices(stripe: Stripe, product: string, tier: PaidPlanId, lines: string[]): Promise<string[]> {
  const lookup_key = lookupKeyOf(tier);
  const { weeklyCents } = plans[tier];
  const all = await stripe.prices.list({ product, limit: 100 }).autoPagingToArray({ limit: 1000 });
  const current = all.find((price) => price.lookup_key === lookup_key && price.active);
  if (current?.unit_amount === weeklyCents) {
    lines.push(`kept price ${lookup_key}`);
    return all.map(({ id }) => id);
  }
  const created = await stripe.prices.create({
    product,
    currency: 'usd',
    unit_amount: weeklyCents,
    recurring: { interval: 'week', interval_count: 1, usage_type: 'licensed' },
    lookup_key,
    transfer_lookup_key: true,
    metadata: { tier },
  });
  lines.push(`created price ${lookup_key}`);
  return [...all.map(({ id }) => id), created.id];
}

async function ensurePortal(stripe: Stripe, prices: Map<string, string[]>, siteUrl: string, lines: string[]) {
  const features: Stripe.BillingPortal.ConfigurationCreateParams.Features = {
    customer_update: { enabled: true, allowed_updates: ['address', 'tax_id'] },
    invoice_history: { enabled: true },
    payment_method_update: { enabled: true },
    subscription_cancel: { enabled: true, mode: 'at_period_end', proration_behavior: 'none' },
    subscription_update: {
      enabled: true,
      default_allowed_updates: ['price'],
      products: [...prices].map(([product, list]) => ({ product, prices: list })),
      proration_behavior: 'always_invoice',
      billing_cycle_anchor: 'unchanged',
      schedule_at_period_end: { conditions: [{ type: 'decreasing_item_amount' }] },
      trial_update_behavior: 'continue_trial',
    },
  };
  const wanted = {
    features,
    business_profile: { privacy_policy_url: `${siteUrl}/privacy`, terms_of_service_url: `${siteUrl}/terms` },
    default_return_url: `${siteUrl}/account`,
  };
  const digest = await sha256(JSON.stringify(wanted));
  const metadata = { ...portalMark, digest };
  const list = await stripe.billingPortal.configurations.list({ active: true, limit: 100 });
  const present = list.data.find((one) => one.metadata?.solace === portalMark.solace);
  const same = present?.metadata?.digest === digest && holds(present, withoutProducts(wanted));
  if (!present) await stripe.billingPortal.configurations.create({ ...wanted, metadata });
  else if (!same) await stripe.billingPortal.configurations.update(present.id, { ...wanted, metadata });
  lines.push(`${present ? (same ? 'kept' : 'updated') : 'created'} portal configuration`);
}

/** Stripe tells the products on request alone; the digest speaks for them. */
function withoutProducts<T extends { features: Stripe.BillingPortal.ConfigurationCreateParams.Features }>(wanted: T) {
  const { products: _, ...update } = wanted.features.subscription_update!;
  return { ...wanted, features: { ...wanted.features, subscription_update: update } };
}

async function ensureWebhook(stripe: Stripe, url: string, lines: string[]): Promise<string | null> {
  const enabled_events = [...subscribedEvents];
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 });
  const present = data.find((endpoint) => endpoint.url === url) ?? data.find((endpoint) => movesTo(endpoint.url, url));
  if (!present) {
    const { secret } = await stripe.webhookEndpoints.create({ url, enabled_events, api_version: apiVersion });
    lines.push(`created webhook endpoint ${url}`);
    return secret ?? null;
  }
  const same =
    present.url === url &&
    present.status === 'enabled' &&
    enabled_events.length === present.enabled_events.length &&
    enabled_events.every((event) => present.enabled_events.includes(event));
  if (!same) await stripe.webhookEndpoints.update(present.id, { url, enabled_events, disabled: false });
  lines.push(`${same ? 'kept' : 'updated'} webhook endpoint ${url}`);
  return null;
}

/** On a laptop the endpoint follows the port. */
function movesTo(from: string, to: string): boolean {
  return [from, to].every((url) => new URL(url).hostname === 'localhost');
}
