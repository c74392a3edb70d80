import type { Stripe } from 'stripe';
import { type Call, idOf, type World, given, mergeMetadata, newMetadata } from '../world.ts';
import newObjects from '../parameters/new-objects.json' with { type: 'json' };
import { newId } from '../table.ts';
import { invalid } from '../api/errors.ts';
import type { PortalConfiguration, Features } from '../objects.ts';

type Params = Stripe.BillingPortal.ConfigurationCreateParams;
type Update = Stripe.BillingPortal.ConfigurationUpdateParams;

export function createPortalConfiguration(world: World, { params }: Call<Params>): PortalConfiguration {
  return world.portalConfigurations.insert({
    id: newId('bpc_1'),
    object: 'billing_portal.configuration',
    business_profile: { headline: null, privacy_policy_url: null, terms_of_service_url: null, ...profileOf(params) },
    created: world.now(),
    features: mergeFeatures(world, noFeatures, params.features),
    is_default: world.portalConfigurations.all().length === 0,
    metadata: newMetadata(params.metadata),
    ...given(params, 'default_return_url'),
    updated: world.now(),
  });
}

function profileOf({ business_profile: profile = {} }: Params | Update) {
  return given(profile, 'privacy_policy_url', 'terms_of_service_url');
}

export function updatePortalConfiguration(world: World, call: Call<Update>): PortalConfiguration {
  const { params } = call;
  const current = world.portalConfigurations.get(idOf(call));
  const features = mergeFeatures(world, current.features, params.features);
  return world.portalConfigurations.change(current.id, (configuration) => {
    Object.assign(configuration, given(params, 'default_return_url'), { features, updated: world.now() });
    Object.assign(configuration.business_profile, profileOf(params));
    configuration.metadata = mergeMetadata(configuration.metadata ?? {}, params.metadata);
  });
}

/** Merges the parameters into the stored configuration; throws for what Stripe refuses. */
function mergeFeatures(world: World, old: Features, changes: Update['features'] = {}): Features {
  const names = Object.keys(old) as (keyof Features & keyof typeof changes)[];
  const features = Object.fromEntries(
    names.map((name) => [name, { ...old[name], ...changes[name] }]),
  ) as unknown as Features;
  const { subscription_update: update, payment_method_update: method } = features;
  if (!update.enabled) return features;
  if (!method.enabled) {
    throw invalid(
      'Cannot enable subscription updates while payment method update is disabled.',
      'features[subscription_update]',
    );
  }
  refuseProducts(world, update);
  return features;
}

/** A configuration that allows nothing, with Stripe's defaults for the rest. */
const noFeatures: Features = newObjects['billing_portal.configuration.features'];

/** Throws for products that a configuration cannot offer: Stripe shows one price for each product and interval. */
function refuseProducts(
  world: World,
  { products, default_allowed_updates: updates }: Features['subscription_update'],
): void {
  const param = 'features[subscription_update][products]';
  if (products.length === 0 || updates.length === 0)
    throw invalid('Subscription updates need products and allowed updates.', param, 'parameter_missing');
  if (products.length > 10) throw invalid('A configuration can have at most 10 products.', param);
  for (const [index, { product, prices }] of products.entries()) {
    world.products.get(product, `${param}[${index}][product]`);
    const intervals = prices.map((price, at) => {
      const { currency, recurring } = world.prices.get(price, `${param}[${index}][prices][${at}]`);
      return [currency, recurring.interval_count, recurring.interval].join(' ');
    });
    if (new Set(intervals).size === prices.length) continue;
    throw invalid('Each product can have only one price for each billing interval.', `${param}[${index}][prices]`);
  }
}
