import type { Stripe } from 'stripe';
import { type Call, idOf, type World, given, mergeMetadata, newMetadata } from '../world.ts';
import { newId } from '../table.ts';
import { invalid } from '../api/errors.ts';
import type { PortalConfiguration, Features, Price } from '../objects.ts';

type Params = Stripe.BillingPortal.ConfigurationCreateParams;

export function createPortalConfiguration(world: World, { params }: Call<Params>): PortalConfiguration {
  const id = newId('bpc_1');
  const features = mergeFeatures(world, noFeatures, params.features);
  return world.portalConfigurations.insert({
    id,
    object: 'billing_portal.configuration',
    active: true,
    business_profile: profileOf(params),
    created: world.now(),
    features,
    is_default: world.portalConfigurations.all().length === 0,
    login_page: { enabled: params.login_page?.enabled ?? false, url: null },
    metadata: newMetadata(params.metadata),
    ...given(params, 'default_return_url', 'name'),
    updated: world.now(),
  });
}

function profileOf({ business_profile: profile }: Params): PortalConfiguration['business_profile'] {
  return {
    headline: profile?.headline || null,
    privacy_policy_url: profile?.privacy_policy_url ?? null,
    terms_of_service_url: profile?.terms_of_service_url ?? null,
  };
}

export function updatePortalConfiguration(
  world: World,
  call: Call<Stripe.BillingPortal.ConfigurationUpdateParams>,
): PortalConfiguration {
  const { params } = call;
  const current = world.portalConfigurations.get(idOf(call));
  const features = mergeFeatures(world, current.features, params.features as Params['features'] | undefined);
  return world.portalConfigurations.change(current.id, (configuration) => {
    Object.assign(configuration, { features, active: params.active ?? configuration.active, updated: world.now() });
    const { business_profile: profile, login_page: login } = params;
    Object.assign(configuration, given(params, 'default_return_url', 'name'));
    if (profile) Object.assign(configuration.business_profile, profile);
    if (login) configuration.login_page.enabled = login.enabled;
    configuration.metadata = mergeMetadata(configuration.metadata, params.metadata);
  });
}

/** Merges the parameters into the stored configuration; throws for what Stripe refuses. */
function mergeFeatures(world: World, old: Features, given: Params['features'] | undefined): Features {
  const merged = structuredClone(old) as unknown as Record<string, Record<string, unknown>>;
  for (const [name, feature] of Object.entries(given ?? {})) {
    merged[name] = { ...merged[name], ...definedFields(feature as Record<string, unknown>) };
  }
  const features = merged as unknown as Features;
  const { subscription_update: update, payment_method_update: method, subscription_cancel: cancel } = features;
  if (update.enabled && !method.enabled) {
    throw invalid(
      'Cannot enable subscription updates while payment method update is disabled.',
      'features[subscription_update]',
    );
  }
  if (cancel.mode === 'at_period_end' && cancel.proration_behavior !== 'none') {
    throw invalid(
      'Prorations are only possible when subscriptions are canceled immediately.',
      'features[subscription_cancel][proration_behavior]',
    );
  }
  update.products = readProducts(world, update);
  return features;
}

function definedFields(feature: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(feature).map(([name, value]) => [name, value === '' ? [] : value]);
  return Object.fromEntries(entries);
}

/** A configuration that allows nothing, with Stripe's defaults for the rest. */
const noFeatures: Features = {
  customer_update: { allowed_updates: [], enabled: false },
  invoice_history: { enabled: false },
  payment_method_update: { enabled: false, payment_method_configuration: null },
  subscription_cancel: {
    cancellation_reason: { enabled: false, feedback_options: null, options: [] },
    enabled: false,
    mode: 'at_period_end',
    proration_behavior: 'none',
  },
  subscription_pause: { duration: { interval_options: [], type: 'indefinite' }, enabled: false },
  subscription_update: {
    billing_cycle_anchor: 'unchanged',
    default_allowed_updates: [],
    enabled: false,
    products: [],
    proration_behavior: 'none',
    schedule_at_period_end: { conditions: [] },
    trial_update_behavior: 'end_trial',
  },
};

/** The products that a configuration offers. Throws for what Stripe refuses. */
function readProducts(
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
