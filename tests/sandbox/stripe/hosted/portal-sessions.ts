import type { Stripe } from 'stripe';
import { type Call, type World, liveCustomer } from '../world.ts';
import { invalid, missing } from '../api/errors.ts';
import { newId } from '../table.ts';
import type { PortalConfiguration, PortalSession, PortalFlow, Subscription } from '../objects.ts';
import { isEnded } from '../subscriptions/subscriptions.ts';

type Params = Stripe.BillingPortal.SessionCreateParams;

/** Stripe's error for the plan that a subscription already has. */
export const noChanges = 'Cannot update the subscription because there are no changes to confirm.';

const untouched = { after_expiration: null, customer_account: null, livemode: false, on_behalf_of: null };

/** A short-lived address of the portal for one customer, optionally for one task. */
export function createPortalSession(world: World, { params }: Call<Params>): PortalSession {
  const customer = liveCustomer(world, params.customer ?? '', 'customer');
  const configuration = configurationOf(world, params.configuration);
  const flow = params.flow_data ? readFlow(world, customer.id, configuration, params.flow_data) : null;
  const id = newId('bps_1');
  return world.portalSessions.insert({
    ...untouched,
    locale: params.locale ?? null,
    id,
    object: 'billing_portal.session',
    configuration: configuration.id,
    created: world.now(),
    customer: customer.id,
    flow,
    return_url: params.return_url ?? configuration.default_return_url,
    url: `${world.settings.sandboxUrl}/portal/${id}`,
  });
}

function configurationOf(world: World, id: string | undefined): PortalConfiguration {
  const found = id
    ? world.portalConfigurations.get(id, 'configuration')
    : world.portalConfigurations.all().find((configuration) => configuration.is_default);
  if (!found) {
    throw invalid(
      'No configuration provided and your test mode default configuration has not been created. Provide a configuration.',
    );
  }
  if (!found.active) throw invalid('The configuration is inactive.', 'configuration');
  return found;
}

function readFlow(
  world: World,
  customer: string,
  { features }: PortalConfiguration,
  flow: NonNullable<Params['flow_data']>,
): PortalFlow {
  const completion = flow.after_completion;
  const read: PortalFlow = {
    customer_update: null,
    subscription_pause: null,
    type: flow.type,
    after_completion: {
      type: completion?.type ?? 'portal_homepage',
      redirect: completion?.redirect ?? null,
      hosted_confirmation: completion?.hosted_confirmation
        ? { custom_message: completion.hosted_confirmation.custom_message ?? null }
        : null,
    },
    subscription_cancel: null,
    subscription_update: null,
    subscription_update_confirm: null,
  };
  if (flow.type === 'payment_method_update') requireFeature(features.payment_method_update.enabled, flow.type);
  else if (flow.type === 'subscription_cancel') read.subscription_cancel = readCancel(world, customer, features, flow);
  else if (flow.type === 'subscription_update') read.subscription_update = readUpdate(world, customer, features, flow);
  else if (flow.type === 'subscription_update_confirm')
    read.subscription_update_confirm = readConfirm(world, customer, features, flow);
  else throw invalid(`The flow ${flow.type} is not among the local portal's.`, 'flow_data[type]');
  return read;
}

type Features = PortalConfiguration['features'];
type FlowData = NonNullable<Params['flow_data']>;

function requireFeature(enabled: boolean, name: string): void {
  if (enabled) return;
  throw invalid(
    `This feature is disabled in the portal configuration: ${name}. Please enable it before using this flow.`,
    'flow_data[type]',
  );
}

function subscriptionIn(world: World, customer: string, id: string | undefined, param: string): Subscription {
  if (!id) throw invalid(`Missing required param: ${param}.`, param, 'parameter_missing');
  const subscription = world.subscriptions.get(id, param);
  if (subscription.customer !== customer) throw missing('subscription', id, param);
  if (isEnded(subscription)) throw invalid('This subscription cannot be updated because it is canceled.', param);
  return subscription;
}

function readCancel(world: World, customer: string, features: Features, { subscription_cancel: cancel }: FlowData) {
  requireFeature(features.subscription_cancel.enabled, 'subscription_cancel');
  const param = 'flow_data[subscription_cancel][subscription]';
  const { id, cancel_at: at } = subscriptionIn(world, customer, cancel?.subscription, param);
  if (at !== null)
    throw invalid('This subscription cannot be canceled because it is already set to be canceled.', param);
  return { subscription: id, retention: null };
}

function readUpdate(world: World, customer: string, features: Features, { subscription_update: update }: FlowData) {
  requireFeature(features.subscription_update.enabled, 'subscription_update');
  const param = 'flow_data[subscription_update][subscription]';
  const subscription = subscriptionIn(world, customer, update?.subscription, param);
  refuseUnchangeable(world, subscription, param);
  return { subscription: subscription.id };
}

function readConfirm(
  world: World,
  customer: string,
  features: Features,
  { subscription_update_confirm: confirm }: FlowData,
) {
  requireFeature(features.subscription_update.enabled, 'subscription_update');
  const path = 'flow_data[subscription_update_confirm]';
  const subscription = subscriptionIn(world, customer, confirm?.subscription, `${path}[subscription]`);
  refuseUnchangeable(world, subscription, `${path}[subscription]`);
  const [wanted] = confirm?.items ?? [];
  const item = subscription.items.data.find(({ id }) => id === wanted?.id);
  if (!wanted || !item) throw missing('subscription_item', wanted?.id ?? '', `${path}[items][0][id]`);
  const price = wanted.price ?? item.price.id;
  const isOffered = features.subscription_update.products.some(({ prices }) => prices.includes(price));
  if (!isOffered)
    throw invalid(`The price ${price} is not in the portal configuration's products.`, `${path}[items][0][price]`);
  const quantity = wanted.quantity ?? item.quantity;
  if (price === item.price.id && quantity === item.quantity) {
    throw invalid(noChanges, `${path}[items]`);
  }
  return { subscription: subscription.id, items: [{ id: item.id, price, quantity }], discounts: null };
}

function refuseUnchangeable(world: World, subscription: Subscription, param: string): void {
  if (subscription.items.data.length > 1)
    throw invalid('Subscriptions with multiple items cannot be updated in the portal.', param);
  if (hasFuturePhase(world, subscription)) {
    throw invalid(
      'This subscription cannot be updated because it is managed by a subscription schedule with future phases.',
      param,
    );
  }
}

/** Whether a schedule changes a subscription at a later time. */
export function hasFuturePhase(world: World, { schedule }: Subscription): boolean {
  const found = schedule ? world.schedules.find(schedule) : undefined;
  const end = found?.current_phase?.end_date;
  return end !== undefined && found?.status === 'active' && found.phases.some(({ start_date }) => start_date >= end);
}
