import type { Stripe } from 'stripe';
import type { Call } from '../api/call.ts';
import { invalid } from '../errors.ts';
import { newId } from '../ids.ts';
import { liveCustomer } from './live-customer.ts';
import { readFlow } from './portal-flow.ts';
import type { PortalConfiguration } from '../types/portal-configurations.ts';
import type { PortalSession } from '../types/portal-sessions.ts';
import type { World } from '../types/world.ts';

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
