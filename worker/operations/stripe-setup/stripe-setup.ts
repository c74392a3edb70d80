import { Stripe } from 'stripe';
import { stripeOptions, apiVersion } from '../../billing/stripe-client.ts';
import { runCommand } from '../command-line.ts';
import { readCommand, requireTargetSettings } from '../owner-command.ts';
import { lookupKeyOf, portalMetadata } from '../../billing/subscriptions.ts';
import { currency, paidPlanIds, plans, type PaidPlanId } from '../../contract/plans.ts';
import { sha256 } from '../../lib/crypto.ts';
import type { Settings } from '../../settings.ts';

/* `npm run stripe:setup [-- --env preview|production]`: settings come from the environment, or else from .dev.vars. */

export const subscribedEvents = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'customer.subscription.paused',
  'customer.subscription.resumed',
  'customer.subscription.trial_will_end',
  'customer.subscription.pending_update_applied',
  'customer.subscription.pending_update_expired',
  'subscription_schedule.updated',
  'subscription_schedule.released',
  'subscription_schedule.canceled',
  'subscription_schedule.completed',
  'subscription_schedule.aborted',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.payment_action_required',
  'invoice.marked_uncollectible',
  'customer.deleted',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.refunded',
  'refund.updated',
  'refund.failed',
] as const satisfies Stripe.WebhookEndpointCreateParams.EnabledEvent[];

export type SetupReport = { lines: string[]; webhookSecret: string | null };

/** A second run changes nothing. */
export async function setUpStripe(stripe: Stripe, siteUrl: string): Promise<SetupReport> {
  const lines: string[] = [];
  const plans: SoldPlan[] = [];
  for (const tier of paidPlanIds) {
    const plan = await ensurePlan(stripe, tier, lines);
    if (plan) plans.push(plan);
  }
  await ensurePortals(stripe, plans, siteUrl, lines);
  const webhookSecret = await ensureWebhook(stripe, `${siteUrl}/api/webhooks/stripe`, lines);
  return { lines, webhookSecret };
}

async function ensureWebhook(stripe: Stripe, url: string, lines: string[]): Promise<string | null> {
  const enabled_events = [...subscribedEvents];
  const { data } = await stripe.webhookEndpoints.list({ limit: 100 });
  const present =
    data.find((endpoint) => endpoint.url === url) ??
    data.find((endpoint) => movesTo(endpoint.url, url));

  if (!present) {
    const { secret } = await stripe.webhookEndpoints.create({
      url,
      enabled_events,
      api_version: apiVersion,
    });
    lines.push(`created webhook endpoint ${url}`);
    return secret ?? null;
  }

  const same =
    present.url === url &&
    present.status === 'enabled' &&
    enabled_events.length === present.enabled_events.length &&
    enabled_events.every((event) => present.enabled_events.includes(event));
  if (!same)
    await stripe.webhookEndpoints.update(present.id, {
      url,
      enabled_events,
      disabled: false,
    });

  lines.push(`${same ? 'kept' : 'updated'} webhook endpoint ${url}`);
  return null;
}

/** On a developer's machine the endpoint follows the port. */
function movesTo(from: string, to: string): boolean {
  return [from, to].every((url) => new URL(url).hostname === 'localhost');
}

export type SoldPlan = {
  product: string;
  onSale: boolean;
  price: string;
  olderPrices: string[];
};

async function ensurePlan(
  stripe: Stripe,
  tier: PaidPlanId,
  lines: string[],
): Promise<SoldPlan | null> {
  const { onSale } = plans[tier];
  const present = await findProduct(stripe, tier);
  if (!onSale && !present) return null;

  const product = onSale ? await ensureProduct(stripe, tier, present, lines) : present!.id;
  const all = await stripe.prices
    .list({
      product,
      limit: 100,
    })
    .autoPagingToArray({ limit: 1000 });

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

async function ensureProduct(
  stripe: Stripe,
  tier: PaidPlanId,
  present: Stripe.Product | undefined,
  lines: string[],
) {
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

type WantedPrice = {
  product: string;
  tier: PaidPlanId;
  current: Stripe.Price | undefined;
};

/** A new amount needs a new price: amounts are immutable. */
async function ensurePrice(
  stripe: Stripe,
  { product, tier, current }: WantedPrice,
  lines: string[],
): Promise<string> {
  const lookup_key = lookupKeyOf(tier);
  const { weeklyCents } = plans[tier];
  if (current?.unit_amount === weeklyCents && current.currency === currency) {
    lines.push(`kept price ${lookup_key}`);
    return current.id;
  }
  const { id } = await stripe.prices.create({
    product,
    currency,
    unit_amount: weeklyCents,
    recurring: {
      interval: 'week',
      interval_count: 1,
      usage_type: 'licensed',
    },
    lookup_key,
    transfer_lookup_key: true,
    metadata: { tier },
  });
  lines.push(`created price ${lookup_key}`);
  return id;
}

type Products = { product: string; prices: string[] }[];
type Configuration = Stripe.BillingPortal.Configuration;

/** Each older price has a portal. */
async function ensurePortals(stripe: Stripe, plans: SoldPlan[], siteUrl: string, lines: string[]) {
  const list = await stripe.billingPortal.configurations.list({
    active: true,
    limit: 100,
  });
  const own = list.data.filter(({ metadata }) => metadata?.solace === portalMetadata.solace);
  const offered = plans.filter(({ onSale }) => onSale);
  const common = offered.map(({ product, price }) => ({
    product,
    prices: [price],
  }));
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

type WantedPortal = {
  siteUrl: string;
  products: Products;
  price?: string;
};

async function ensure(
  stripe: Stripe,
  present: Configuration | undefined,
  { siteUrl, products, price }: WantedPortal,
) {
  const wanted = {
    features: featuresWith(products),
    business_profile: {
      privacy_policy_url: `${siteUrl}/privacy`,
      terms_of_service_url: `${siteUrl}/terms`,
    },
    default_return_url: `${siteUrl}/account`,
  };
  const digest = await sha256(JSON.stringify(wanted));
  const metadata = { ...portalMetadata, digest, ...(price && { price }) };
  if (!present) {
    await stripe.billingPortal.configurations.create({ ...wanted, metadata });
    return 'created';
  }
  if (present.metadata?.digest === digest && matches(present, withoutProducts(wanted)))
    return 'kept';
  await stripe.billingPortal.configurations.update(present.id, {
    ...wanted,
    metadata,
  });
  return 'updated';
}

/**
 * `none` charges the whole price of a dearer plan; the terms
 * (web/words) then say so. Needs `npm run stripe:setup`.
 */
const creditForUnusedTime: 'always_invoice' | 'none' = 'always_invoice';

function featuresWith(products: Products): Stripe.BillingPortal.ConfigurationCreateParams.Features {
  return {
    customer_update: {
      enabled: true,
      allowed_updates: ['email', 'name', 'address', 'tax_id'],
    },
    invoice_history: { enabled: true },
    payment_method_update: { enabled: true },
    subscription_cancel: {
      enabled: true,
      mode: 'at_period_end',
      proration_behavior: 'none',
    },
    subscription_update: {
      enabled: true,
      default_allowed_updates: ['price'],
      products,
      proration_behavior: creditForUnusedTime,
      billing_cycle_anchor: 'now',
      schedule_at_period_end: { conditions: [{ type: 'decreasing_item_amount' }] },
      trial_update_behavior: 'continue_trial',
    },
  };
}

function withoutProducts<
  T extends { features: Stripe.BillingPortal.ConfigurationCreateParams.Features },
>(wanted: T) {
  const { products: _, ...update } = wanted.features.subscription_update!;
  return {
    ...wanted,
    features: { ...wanted.features, subscription_update: update },
  };
}

/** Objects may have more fields, and lists another order. */
export function matches(actual: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return false;
    return wanted.every((one) => actual.some((other) => matches(other, one)));
  }
  if (typeof wanted !== 'object' || wanted === null) return actual === wanted;
  const fields = (actual ?? {}) as Record<string, unknown>;
  return Object.entries(wanted).every(([name, value]) => matches(fields[name], value));
}

const notMade = 'not_made';
const emptyList = {
  object: 'list',
  data: [],
  has_more: false,
  url: '/',
};

export async function rehearseSetup(settings: Settings): Promise<string[]> {
  const { lines } = await setUpStripe(readingStripe(settings), settings.SITE_URL);
  return lines;
}

/** Reads reach Stripe, writes get a local response. */
export function readingStripe(settings: Settings): Stripe {
  const httpClient = Stripe.createFetchHttpClient(readOnly as typeof fetch);
  const options = stripeOptions(settings.require('STRIPE_API_BASE'));
  return new Stripe(settings.require('STRIPE_SECRET_KEY'), {
    ...options,
    httpClient,
  });
}

async function readOnly(url: string, init: RequestInit): Promise<Response> {
  if (init.method !== 'GET') return Response.json({ id: notMade });
  return url.includes(notMade) ? Response.json(emptyList) : fetch(url, init);
}

async function runSetup(): Promise<boolean> {
  const { target, values } = readCommand('local', {
    usage: 'npm run stripe:setup -- [--env preview|production]',
  });
  requireTargetSettings(target, values, ['STRIPE_SECRET_KEY', 'SITE_URL']);
  const { STRIPE_SECRET_KEY = '', SITE_URL = '' } = values;
  const { STRIPE_API_BASE = 'https://api.stripe.com' } = values;

  const stripe = new Stripe(STRIPE_SECRET_KEY, stripeOptions(STRIPE_API_BASE));
  const { lines, webhookSecret } = await setUpStripe(stripe, SITE_URL.replace(/\/+$/, ''));

  for (const line of lines) process.stdout.write(`${line}\n`);
  if (webhookSecret && webhookSecret !== values.STRIPE_WEBHOOK_SECRET) {
    process.stdout.write(`Put this into STRIPE_WEBHOOK_SECRET: ${webhookSecret}\n`);
  }

  return true;
}

if (process.argv[1] === import.meta.filename) await runCommand(runSetup);
