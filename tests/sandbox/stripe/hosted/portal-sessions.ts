import type { Stripe } from 'stripe';
import { type Call, type World, liveCustomer } from '../world.ts';
import { invalid, missing } from '../api/errors.ts';
import { newId } from '../table.ts';
import type { PortalConfiguration, PortalSession, PortalFlow, Subscription } from '../objects.ts';
import { isEnded } from '../subscriptions/subscriptions.ts';

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

function readFlow(world: World, customer: string, { features }: PortalConfiguration, flow: FlowData): PortalFlow {
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
    after_completion: { type: redirect ? 'redirect' : 'portal_homepage', redirect, hosted_confirmation: null },
    customer_update: null,
    subscription_cancel: null,
    subscription_pause: null,
    subscription_update: type === 'subscription_update' ? changeableIn(world, customer, flow) : null,
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
    (hasFuturePhase(world, subscription) && 'it is managed by a subscription schedule with future phases');
  if (obstacle) throw invalid(`This subscription cannot be updated because ${obstacle}.`, param);
  return { subscription: id };
}

/** Whether a schedule changes a subscription at a later time. */
export function hasFuturePhase(world: World, { schedule }: Subscription): boolean {
  const found = schedule ? world.schedules.find(schedule) : undefined;
  const end = found?.current_phase?.end_date;
  return end !== undefined && found?.status === 'active' && found.phases.some(({ start_date }) => start_date >= end);
}
