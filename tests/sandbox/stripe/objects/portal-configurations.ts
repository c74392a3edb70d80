import type { Stripe } from 'stripe';
import { type Call, idOf } from '../api/call.ts';
import { pageOf } from '../api/page.ts';
import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import { mergeMetadata, newMetadata } from './metadata.ts';
import { noFeatures } from './portal-features.ts';
import { readProducts } from './portal-products.ts';
import type { PortalConfiguration } from '../types/portal-configurations.ts';
import type { Features } from '../types/portal-features.ts';
import type { World } from '../types/world.ts';

type Params = Stripe.BillingPortal.ConfigurationCreateParams;

export function createPortalConfiguration(world: World, { params }: Call<Params>): PortalConfiguration {
  const id = newId('bpc_1');
  const features = mergeFeatures(world, noFeatures, params.features);
  return world.portalConfigurations.insert({
    id,
    object: 'billing_portal.configuration',
    active: true,
    application: null,
    business_profile: profileOf(params),
    created: world.now(),
    default_return_url: params.default_return_url || null,
    features,
    is_default: world.portalConfigurations.all().length === 0,
    livemode: false,
    login_page: { enabled: params.login_page?.enabled ?? false, url: null },
    metadata: newMetadata(params.metadata),
    name: params.name || null,
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
    const { business_profile: profile, default_return_url: url, login_page: login, name } = params;
    if (profile) Object.assign(configuration.business_profile, profile);
    if (url !== undefined) configuration.default_return_url = url || null;
    if (login) configuration.login_page.enabled = login.enabled;
    if (name !== undefined) configuration.name = name || null;
    configuration.metadata = mergeMetadata(configuration.metadata, params.metadata);
  });
}

/** Merges the parameters into the stored configuration; throws for what Stripe refuses. */
function mergeFeatures(world: World, old: Features, given: Params['features'] | undefined): Features {
  const merged = structuredClone(old) as Record<string, Record<string, unknown>>;
  for (const [name, feature] of Object.entries(given ?? {})) {
    merged[name] = { ...merged[name], ...definedFields(feature as Record<string, unknown>) };
  }
  const features = merged as Features;
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

export function retrievePortalConfiguration(world: World, call: Call): PortalConfiguration {
  return world.portalConfigurations.get(idOf(call));
}

export function listPortalConfigurations(world: World, { params }: Call<Stripe.BillingPortal.ConfigurationListParams>) {
  const found = world.portalConfigurations
    .all()
    .filter((configuration) => params.active === undefined || configuration.active === params.active)
    .filter((configuration) => params.is_default === undefined || configuration.is_default === params.is_default);
  return pageOf(found, params, '/v1/billing_portal/configurations', world.portalConfigurations);
}
