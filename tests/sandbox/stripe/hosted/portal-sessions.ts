import type { Stripe } from 'stripe';
import { type Call, type World, liveCustomer } from '../world.ts';
import { invalid, missing } from '../api/errors.ts';
import { newId } from '../table.ts';
import type { PortalConfiguration, PortalSession, PortalFlow, Subscription } from '../objects.ts';
import { isEnded } from '../subscriptions/subscriptions.ts';

type Params = Stripe.BillingPortal.SessionCreateParams;

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

function readFlow(world: World, customer: string, { features }: PortalConfiguration, flow: FlowData): PortalFlow {
  const feature = (['payment_method_update', 'subscription_update'] as const).find((name) => name === flow.type);
  if (!feature) throw invalid(`The flow ${flow.type} is not among the local portal's.`, 'flow_data[type]');
  if (!features[feature].enabled) {
    throw invalid(
      `This feature is disabled in the portal configuration: ${feature}. Please enable it before using this flow.`,
      'flow_data[type]',
    );
  }
  const { type = 'portal_homepage', redirect = null } = flow.after_completion ?? {};
  if (type === 'hosted_confirmation')
    throw invalid('The local portal has no confirmation page.', 'flow_data[after_completion]');
  return {
    type: feature,
    after_completion: { type, redirect, hosted_confirmation: null },
    customer_update: null,
    subscription_cancel: null,
    subscription_pause: null,
    subscription_update:
      feature === 'subscription_update' ? changeableIn(world, customer, flow.subscription_update?.subscription) : null,
    subscription_update_confirm: null,
  };
}

type FlowData = NonNullable<Params['flow_data']>;

/** The subscription of a flow, if the portal can change it. */
function changeableIn(world: World, customer: string, id: string | undefined): { subscription: string } {
  const param = 'flow_data[subscription_update][subscription]';
  if (!id) throw invalid(`Missing required param: ${param}.`, param, 'parameter_missing');
  const subscription = world.subscriptions.get(id, param);
  if (subscription.customer !== customer) throw missing('subscription', id, param);
  if (isEnded(subscription)) throw invalid('This subscription cannot be updated because it is canceled.', param);
  if (subscription.items.data.length > 1)
    throw invalid('Subscriptions with multiple items cannot be updated in the portal.', param);
  if (hasFuturePhase(world, subscription)) {
    throw invalid(
      'This subscription cannot be updated because it is managed by a subscription schedule with future phases.',
      param,
    );
  }
  return { subscription: id };
}

/** Whether a schedule changes a subscription at a later time. */
export function hasFuturePhase(world: World, { schedule }: Subscription): boolean {
  const found = schedule ? world.schedules.find(schedule) : undefined;
  const end = found?.current_phase?.end_date;
  return end !== undefined && found?.status === 'active' && found.phases.some(({ start_date }) => start_date >= end);
}
