import type { Stripe } from 'stripe';
import { users, type User } from '#db/schema';
import { eq } from 'drizzle-orm';
import { pathIn } from '../contract/languages.ts';
import { RequestError } from '../lib/request-error.ts';
import { hourMs } from '../lib/time.ts';
import type { Scope } from '../request-scope.ts';
import { ownCustomer, requireKnown } from './customer.ts';
import type { CustomerChanges, LeasedCustomer, LeaseResult } from './lease.ts';
import { unlessMissing, unlessRefused, withStripe } from './stripe-client.ts';
import { isLive, nextPhase, owes, portalMetadata, subscriptionsOf } from './subscriptions.ts';

const watchMs = hourMs;

export type SiteScope = Scope<'language' | 'settings'>;
export type PageScope = SiteScope & Scope<'db' | 'now'>;

/** Throws 409 for a user who never paid. */
export async function portalPage(
  scope: PageScope,
  leased: LeasedCustomer,
): Promise<LeaseResult<string>> {
  const { settings } = scope;
  const { customer, user } = leased;
  const { stripeId, hadSubscription } = customer;
  const noAccount = new RequestError('noBillingAccount');
  if (!stripeId || !hadSubscription) throw noAccount;

  return withStripe(settings, async (stripe) => {
    await ownCustomer(stripe, leased);
    const live = (await subscriptionsOf(stripe, stripeId, user.id))?.find(isLive);
    const url = await unlessMissing(openPortal(stripe, stripeId, scope, { live }), 'customer');
    if (url) return sendTo(scope, user, url);
    await requireKnown(stripe, stripeId);
    throw noAccount;
  });
}

/** The webhooks of what happens there may be lost. */
export function sendTo(
  { now }: PageScope,
  { id }: User,
  url: string,
  changes: CustomerChanges = {},
): LeaseResult<string> {
  const watched = { billingWatchUntil: now + watchMs };
  return {
    result: url,
    changes: { dueAt: now, ...changes },
    effects: (release) => release.update(['released'], users, watched, eq(users.id, id)),
  };
}

export function pageAddress({ settings, language }: SiteScope, path: string): string {
  return settings.SITE_URL + pathIn(language, path);
}

type Flow = Stripe.BillingPortal.SessionCreateParams.FlowData;

export async function openPortal(
  stripe: Stripe,
  customer: string,
  scope: SiteScope,
  {
    live,
    flow,
  }: {
    live: Stripe.Subscription | undefined;
    flow?: Flow | undefined;
  },
): Promise<string> {
  const configuration = await configurationFor(stripe, live);
  const plain: Stripe.BillingPortal.SessionCreateParams = {
    customer,
    locale: scope.language,
    return_url: pageAddress(scope, '/account'),
    ...(configuration && { configuration }),
  };

  const { sessions } = stripe.billingPortal;
  const inFlow =
    flow &&
    (await unlessRefused(
      sessions.create({
        ...plain,
        flow_data: flow,
      }),
    ));
  return (inFlow ?? (await sessions.create(plain))).url;
}

/** No flow while a change is scheduled. */
export function fittingFlow(subscription: Stripe.Subscription, scope: SiteScope): Flow | undefined {
  const return_url = pageAddress(scope, '/auth/stripe-success');
  const after_completion = {
    type: 'redirect',
    redirect: { return_url },
  } as const;
  if (owes(subscription))
    return {
      type: 'payment_method_update',
      after_completion,
    };
  const scheduled =
    subscription.cancel_at ?? (subscription.cancel_at_period_end || nextPhase(subscription));
  if (scheduled || subscription.items.data.length !== 1) return undefined;
  return {
    type: 'subscription_update',
    subscription_update: { subscription: subscription.id },
    after_completion,
  };
}

async function configurationFor(
  stripe: Stripe,
  live: Stripe.Subscription | undefined,
): Promise<string | undefined> {
  const list = stripe.billingPortal.configurations.list({
    active: true,
    limit: 100,
  });
  const own = (await list).data.filter(
    ({ metadata }) => metadata?.solace === portalMetadata.solace,
  );
  const prices = live?.items.data.map(({ price }) => price.id) ?? [];
  const special = own.find(({ metadata }) => metadata?.price && prices.includes(metadata.price));
  return (special ?? own.find(({ metadata }) => !metadata?.price))?.id;
}
