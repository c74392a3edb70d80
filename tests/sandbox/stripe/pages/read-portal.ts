import { productName } from '../billing/lines.ts';
import { defaultMethod } from '../billing/default-method.ts';
import { liveCustomer } from '../objects/live-customer.ts';
import { hasFuturePhase } from '../objects/portal-flow.ts';
import { isLive, periodEnd } from '../objects/subscriptions.ts';
import type { Customer } from '../types/customers.ts';
import type { Invoice } from '../types/invoices.ts';
import type { PaymentMethod } from '../types/payment-methods.ts';
import type { Features } from '../types/portal-features.ts';
import type { PortalSession } from '../types/portal-sessions.ts';
import type { Price } from '../types/prices.ts';
import type { Subscription } from '../types/subscriptions.ts';
import type { World } from '../types/world.ts';

export type Plan = { price: Price; name: string };
export type Portal = {
  session: PortalSession;
  customer: Customer;
  features: Features;
  subscription: Subscription | undefined;
  plan: Plan | undefined;
  /** The plan of the schedule's next phase. */
  planned: (Plan & { at: number }) | undefined;
  offers: Plan[];
  card: PaymentMethod | undefined;
  invoices: Invoice[];
};

/** The data that the portal shows to one customer. */
export function readPortal(world: World, session: PortalSession): Portal {
  const customer = liveCustomer(world, session.customer);
  const { features } = world.portalConfigurations.get(session.configuration);
  const subscription = subscriptionOf(world, session);
  const price = subscription?.items.data[0]?.price;
  const planned = subscription && plannedOf(world, subscription);
  return {
    session,
    customer,
    features,
    subscription,
    plan: price && planOf(world, price),
    planned,
    offers: subscription && price && !planned ? offersOf(world, features, subscription, price) : [],
    card: cardOf(world, customer, subscription),
    invoices: world.invoices.all().filter((invoice) => invoice.customer === customer.id && invoice.status !== 'draft'),
  };
}

function planOf(world: World, price: Price): Plan {
  return { price, name: productName(world, price) };
}

/** The subscription that the flow names, else the newest one that can be managed. */
function subscriptionOf(world: World, { flow, customer }: PortalSession): Subscription | undefined {
  const named = flow?.subscription_update ?? flow?.subscription_cancel ?? flow?.subscription_update_confirm;
  const managed = world.subscriptions
    .all()
    .filter(
      (subscription) =>
        subscription.customer === customer && isLive(subscription) && subscription.status !== 'incomplete',
    );
  return managed.find(({ id }) => id === named?.subscription) ?? managed[0];
}

function plannedOf(world: World, subscription: Subscription): Portal['planned'] {
  if (!hasFuturePhase(world, subscription) || !subscription.schedule) return undefined;
  const { phases, current_phase: present } = world.schedules.get(subscription.schedule);
  const next = phases.find(({ start_date: start }) => start >= (present?.end_date ?? Infinity));
  const price = next?.items[0]?.price;
  return next && price ? { ...planOf(world, world.prices.get(price)), at: next.start_date } : undefined;
}

/** The newest active price of every other product. */
function offersOf(
  world: World,
  { subscription_update: update }: Features,
  { status, items }: Subscription,
  current: Price,
): Plan[] {
  if (!update.enabled || !['active', 'trialing'].includes(status) || items.data.length > 1) return [];
  return update.products
    .filter(({ product }) => product !== current.product)
    .map(({ prices }) => prices.map((id) => world.prices.get(id)).filter(({ active }) => active))
    .flatMap((prices) => prices.toSorted((one, other) => other.created - one.created).slice(0, 1))
    .toSorted((one, other) => one.unit_amount - other.unit_amount)
    .map((price) => planOf(world, price));
}

function cardOf(world: World, customer: Customer, subscription: Subscription | undefined): PaymentMethod | undefined {
  return defaultMethod(world, {
    customer: customer.id,
    default_payment_method: subscription?.default_payment_method ?? null,
  });
}

/** The next date of the subscription, with its label. */
export function nextDate({ subscription, planned }: Portal): { label: string; at: number } | undefined {
  if (!subscription) return undefined;
  const { cancel_at: end, status, trial_end: trialEnd } = subscription;
  if (end !== null) return { label: 'Ends on', at: end };
  if (planned) return { label: `Changes to ${planned.name} on`, at: planned.at };
  if (status === 'trialing' && trialEnd !== null) return { label: 'Trial ends on', at: trialEnd };
  return { label: status === 'active' ? 'Renews on' : 'Period ends on', at: periodEnd(subscription) };
}
