import type { Stripe } from 'stripe';
import {
  type Call,
  type World,
  liveCustomer,
  idOf,
  given,
  mergeMetadata,
  newMetadata,
} from '../world.ts';
import { invalid, missing } from '../api/errors.ts';
import { newId } from '../table.ts';
import type {
  PortalConfiguration,
  PortalSession,
  PortalFlow,
  Subscription,
  Features,
} from '../objects.ts';
import { isEnded } from '../subscriptions/subscriptions.ts';
import newObjects from '../parameters/new-objects.json' with { type: 'json' };

type Params = Stripe.BillingPortal.SessionCreateParams;
type FlowData = NonNullable<Params['flow_data']>;

/** A short-lived address of the portal for one customer, optionally for one task. */
export function createPortalSession(world: World, { params }: Call<Params>): PortalSession {
  const customer = liveCustomer(world, params.customer ?? '', 'customer');
  const configuration = configurationOf(world, params.configuration);
  const id = newId('bps_1');
  return world.portalSessions.insert({
    locale: params.locale ?? null,
    id,
    object: 'billing_portal.session',
    configuration: configuration.id,
    created: world.now(),
    customer: customer.id,
    flow: params.flow_data ? readFlow(world, customer.id, configuration, params.flow_data) : null,
    return_url: params.return_url ?? configuration.default_return_url,
    url: `${world.settings.sandboxUrl}/portal/${id}`,
  });
}

function configurationOf(world: World, id: string | undefined): PortalConfiguration {
  const found = id
    ? world.portalConfigurations.get(id, 'configuration')
    : world.portalConfigurations.all().find((configuration) => configuration.is_default);
  if (found) return found;
  throw invalid(
    'No configuration provided and your test mode default configuration has not been created. Provide a configuration.',
  );
}

function readFlow(
  world: World,
  customer: string,
  { features }: PortalConfiguration,
  flow: FlowData,
): PortalFlow {
  const type = flow.type as 'payment_method_update' | 'subscription_update';
  if (!features[type].enabled) {
    throw invalid(
      `This feature is disabled in the portal configuration: ${type}. Please enable it before using this flow.`,
      'flow_data[type]',
    );
  }
  const redirect = flow.after_completion?.redirect ?? null;
  return {
    type,
    after_completion: {
      type: redirect ? 'redirect' : 'portal_homepage',
      redirect,
      hosted_confirmation: null,
    },
    customer_update: null,
    subscription_cancel: null,
    subscription_pause: null,
    subscription_update:
      type === 'subscription_update' ? changeableIn(world, customer, flow) : null,
    subscription_update_confirm: null,
  };
}

/** The subscription of a flow, if the portal can change it. */
function changeableIn(world: World, customer: string, flow: FlowData): { subscription: string } {
  const param = 'flow_data[subscription_update][subscription]';
  const id = flow.subscription_update?.subscription;
  if (!id) throw invalid(`Missing required param: ${param}.`, param, 'parameter_missing');
  const subscription = world.subscriptions.get(id, param);
  if (subscription.customer !== customer) throw missing('subscription', id, param);
  const obstacle =
    (isEnded(subscription) && 'it is canceled') ||
    (subscription.items.data.length > 1 && 'it has multiple items') ||
    (hasFuturePhase(world, subscription) &&
      'it is managed by a subscription schedule with future phases');
  if (obstacle) throw invalid(`This subscription cannot be updated because ${obstacle}.`, param);
  return { subscription: id };
}

/** Whether a schedule changes a subscription at a later time. */
export function hasFuturePhase(world: World, { schedule }: Subscription): boolean {
  const found = schedule ? world.schedules.find(schedule) : undefined;
  const end = found?.current_phase?.end_date;
  return (
    end !== undefined &&
    found?.status === 'active' &&
    found.phases.some(({ start_date }) => start_date >= end)
  );
}

type NewConfiguration = Stripe.BillingPortal.ConfigurationCreateParams;
type Update = Stripe.BillingPortal.ConfigurationUpdateParams;

export function createPortalConfiguration(
  world: World,
  { params }: Call<NewConfiguration>,
): PortalConfiguration {
  return world.portalConfigurations.insert({
    id: newId('bpc_1'),
    object: 'billing_portal.configuration',
    business_profile: {
      headline: null,
      privacy_policy_url: null,
      terms_of_service_url: null,
      ...profileOf(params),
    },
    created: world.now(),
    features: mergeFeatures(world, noFeatures, params.features),
    is_default: world.portalConfigurations.all().length === 0,
    metadata: newMetadata(params.metadata),
    ...given(params, 'default_return_url'),
    updated: world.now(),
  });
}

function profileOf({ business_profile: profile = {} }: NewConfiguration | Update) {
  return given(profile, 'privacy_policy_url', 'terms_of_service_url');
}

export function updatePortalConfiguration(world: World, call: Call<Update>): PortalConfiguration {
  const { params } = call;
  const current = world.portalConfigurations.get(idOf(call));
  const features = mergeFeatures(world, current.features, params.features);
  return world.portalConfigurations.change(current.id, (configuration) => {
    Object.assign(configuration, given(params, 'default_return_url'), {
      features,
      updated: world.now(),
    });
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
function refuseProducts(world: World, update: Features['subscription_update']): void {
  const { products, default_allowed_updates: updates } = update;
  const param = 'features[subscription_update][products]';
  if (products.length === 0 || updates.length === 0)
    throw invalid(
      'Subscription updates need products and allowed updates.',
      param,
      'parameter_missing',
    );
  if (products.length > 10) throw invalid('A configuration can have at most 10 products.', param);
  for (const [index, { product, prices }] of products.entries()) {
    world.products.get(product, `${param}[${index}][product]`);
    const intervals = prices.map((price, at) => {
      const { currency, recurring } = world.prices.get(price, `${param}[${index}][prices][${at}]`);
      return [currency, recurring.interval_count, recurring.interval].join(' ');
    });
    if (new Set(intervals).size === prices.length) continue;
    throw invalid(
      'Each product can have only one price for each billing interval.',
      `${param}[${index}][prices]`,
    );
  }
}
