import type { Stripe } from 'stripe';
import type { Call } from '../api/call.ts';
import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import type { World } from '../world.ts';
import { liveCustomer } from './customers.ts';
import type { PortalConfiguration } from './portal-configurations.ts';
import type { Subscription } from './subscriptions.ts';
import { readFlow } from './portal-flow.ts';

type Params = Stripe.BillingPortal.SessionCreateParams;

export type PortalFlow = {
  type: string;
  after_completion: {
    type: string;
    redirect: { return_url: string } | null;
    hosted_confirmation: { custom_message: string | null } | null;
  };
  customer_update: null;
  subscription_cancel: { subscription: string; retention: null } | null;
  subscription_pause: null;
  subscription_update: { subscription: string } | null;
  subscription_update_confirm: {
    subscription: string;
    items: { id: string; price: string; quantity: number }[];
    discounts: null;
  } | null;
};
export type PortalSession = {
  id: string;
  object: 'billing_portal.session';
  configuration: string;
  created: number;
  customer: string;
  flow: PortalFlow | null;
  locale: string | null;
  return_url: string | null;
  url: string;
};

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

/** Whether a schedule still has something in store for a subscription. */
export function hasFuturePhase(world: World, { schedule }: Subscription): boolean {
  const found = schedule ? world.schedules.find(schedule) : undefined;
  const end = found?.current_phase?.end_date;
  return end !== undefined && found?.status === 'active' && found.phases.some(({ start_date }) => start_date >= end);
}
