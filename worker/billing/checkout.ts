import type { Stripe } from 'stripe';
import { customers, type User } from '#db/schema';
import { currency } from '../contract/plans.ts';
import { refusalOf, type SessionLimit } from '../identity/user-session.ts';
import type { Database } from '../lib/database.ts';
import { coalesce } from '../lib/expressions.ts';
import { RequestError } from '../lib/request-error.ts';
import type { Settings } from '../settings.ts';
import { entitledTier } from '../usage/allowance.ts';
import { ownCustomer, presenceOfCustomer, withCustomer, withFoundCustomer } from './customer.ts';
import { asOwed, authenticationPage } from './invoices.ts';
import type { CustomerChanges, Customer, LeasedCustomer, LeaseResult } from './lease.ts';
import { startPlanAfterTrial } from './plan-after-trial.ts';
import {
  pageAddress,
  fittingFlow,
  openPortal,
  sendTo,
  type PageScope,
  type SiteScope,
} from './portal.ts';
import { startMetadata, withNote, type Choice } from './start-choice.ts';
import { unlessMissing, unlessRefused, withStripe } from './stripe-client.ts';
import { currentPriceOf, isLive, subscriptionsOf, tierOfPrice } from './subscriptions.ts';

/** A limited session may not change a plan that somebody pays for. */
type CheckoutScope = PageScope & {
  db: Database;
  limitedBy: SessionLimit | null;
};

/**
 * Saved before the customer is created at Stripe, so
 * that the cron job can find it if its id is lost.
 */
export function stripeAsked(now: number): CustomerChanges {
  return {
    stripeAsked: true,
    askedAt: coalesce<number>(customers.askedAt, now),
  };
}

export async function planPage(
  scope: CheckoutScope,
  asked: LeasedCustomer,
  wanted: Choice | undefined,
): Promise<LeaseResult<string>> {
  const { db, settings, now } = scope;
  return withStripe(settings, async (stripe) => {
    const leased = await withFoundCustomer(stripe, asked);
    const { customer, user } = leased;
    const known = await ownCustomer(stripe, leased);
    const { live, setupSession } = await liveSubscription(stripe, leased, settings);

    if (live) return subscriberSession(stripe, scope, { leased, live, wanted });

    if (!wanted) return plansPage(scope, customer);

    // The form would show the address of a former payer.
    if (scope.limitedBy && known?.email) throw refusalOf(scope.limitedBy);

    const { id, result: session } = await withCustomer(db, stripe, leased, (stripeId) =>
      openCheckout(stripe, {
        customer: stripeId,
        user,
        wanted,
        site: scope,
        now,
      }),
    );

    const since = { ...leased, customer: { ...customer, setupSession } };
    const bought = await boughtMeanwhile(stripe, scope, {
      leased: since,
      id,
      session,
    });
    if (bought) return bought;

    const changes = {
      stripeId: id,
      ...(session.mode === 'setup' && { setupSession: session.id }),
    };
    return sendTo(scope, user, session.url!, changes);
  });
}

type SubscriberSessionOptions = {
  leased: LeasedCustomer;
  live: Stripe.Subscription;
  wanted: Choice | undefined;
};

async function subscriberSession(
  stripe: Stripe,
  scope: CheckoutScope,
  { leased, live, wanted }: SubscriberSessionOptions,
): Promise<LeaseResult<string>> {
  const { stripeId } = leased.customer;
  const page = await subscriberPage(stripe, live, stripeId!, scope);
  // A trial link can be forwarded: only its person says when a plan starts.
  if (wanted && !scope.limitedBy) await noteChoice(stripe, live, wanted);

  return sendTo(scope, leased.user, page, { stripeId });
}

function plansPage(scope: SiteScope, { stripeId }: Customer): LeaseResult<string> {
  return { result: pageAddress(scope, '/plans'), changes: { stripeId } };
}

type BoughtMeanwhileOptions = {
  leased: LeasedCustomer;
  id: string;
  session: Stripe.Checkout.Session;
};

/** An earlier checkout may have been completed; null if none was. */
async function boughtMeanwhile(
  stripe: Stripe,
  scope: CheckoutScope,
  { leased, id, session }: BoughtMeanwhileOptions,
): Promise<LeaseResult<string> | null> {
  if (id !== leased.customer.stripeId) return null;

  const { live } = await liveSubscription(stripe, leased, scope.settings);
  if (!live) return null;

  await unlessRefused(stripe.checkout.sessions.expire(session.id));
  return sendTo(scope, leased.user, await subscriberPage(stripe, live, id, scope));
}

/** Throws 404 for a session of somebody else. */
export async function checkoutOf(
  settings: Settings,
  { customer }: LeasedCustomer,
  sessionId: string,
): Promise<Stripe.Checkout.Session> {
  if (!customer.stripeId || !/^cs_(test|live)_\w+$/.test(sessionId))
    throw new RequestError('notFound');
  const session = await withStripe(settings, (stripe) =>
    unlessMissing(stripe.checkout.sessions.retrieve(sessionId)),
  );
  if (session?.customer !== customer.stripeId) throw new RequestError('notFound');
  return session;
}

function isChoiceAlone(live: Stripe.Subscription, scope: SiteScope): boolean {
  return live.status === 'trialing' && fittingFlow(live, scope)?.type === 'subscription_update';
}

async function liveSubscription(stripe: Stripe, leased: LeasedCustomer, settings: Settings) {
  const { stripeId } = leased.customer;
  // A card saved during the trial counts before its event
  // has arrived: a new checkout would take its place.
  const { session: setupSession } = await startPlanAfterTrial(stripe, leased, settings);
  const live = stripeId
    ? (await subscriptionsOf(stripe, stripeId, leased.user.id))?.find(isLive)
    : undefined;
  return { live, setupSession };
}

async function subscriberPage(
  stripe: Stripe,
  live: Stripe.Subscription,
  customer: string,
  scope: CheckoutScope,
) {
  if (scope.limitedBy && !isChoiceAlone(live, scope)) throw refusalOf(scope.limitedBy);
  const owed = await asOwed(stripe, live);
  const page = await authenticationPage(stripe, owed);
  return (
    page ??
    openPortal(stripe, customer, scope, {
      live,
      flow: fittingFlow(owed, scope),
    })
  );
}

async function noteChoice(
  stripe: Stripe,
  live: Stripe.Subscription,
  wanted: Choice,
): Promise<void> {
  const { id, metadata, items } = live;
  const isSold = items.data.some(({ price }) => tierOfPrice(price) === wanted.tier);
  if (isSold) return;

  const noted = withNote(live, wanted, items.data[0]?.current_period_start ?? 0);
  const isNoted = Object.entries(noted).every(([key, value]) => metadata[key] === value);
  if (!isNoted) await unlessRefused(stripe.subscriptions.update(id, { metadata: noted }));
}

type Order = {
  customer: string;
  user: User;
  wanted: Choice;
  site: SiteScope;
  now: number;
};

/**
 * Methods that confirm at once; wallets come with cards. A
 * bank debit would grant the plan days before its payment.
 */
const allowed_payment_method_types = [
  'card',
  'link',
] satisfies Stripe.Checkout.SessionCreateParams['allowed_payment_method_types'];

async function openCheckout(stripe: Stripe, order: Order): Promise<Stripe.Checkout.Session> {
  const metadata = metadataOf(order);
  const price = await currentPriceOf(stripe, order.wanted.tier);
  if (!price)
    throw new RequestError('conflict', {
      message: 'This plan is not on sale. Please choose another one.',
    });

  const { data } = await stripe.checkout.sessions.list({
    customer: order.customer,
    status: 'open',
    limit: 100,
  });

  const fitting = data.find(
    ({ url, locale, metadata: theirs }) =>
      url && locale === order.site.language && sameOrder(theirs, metadata),
  );

  for (const other of data)
    if (other !== fitting) await unlessRefused(stripe.checkout.sessions.expire(other.id));

  // A checkout stays open when its customer is deleted
  // in Stripe's dashboard, but creating one then fails.
  if (fitting && (await presenceOfCustomer(stripe, order.customer)) === 'present') return fitting;
  return stripe.checkout.sessions.create(
    metadata.purpose === 'trial_plan' ? setup(order, metadata) : purchase(order, metadata, price),
  );
}

type Metadata = ReturnType<typeof metadataOf>;

function metadataOf({ user, wanted, now }: Order) {
  const trial = user.trialEndsAt !== null && user.trialEndsAt > now;
  const purpose = trial ? 'trial_plan' : 'purchase';
  const { tier } = wanted;
  const tierBefore = entitledTier(user, now);
  return {
    userId: user.id,
    tier,
    tierBefore,
    purpose,
    ...startMetadata(wanted),
  };
}

function sameOrder(theirs: Stripe.Metadata | null, ours: Metadata): boolean {
  return Object.entries(ours).every(([key, value]) => theirs?.[key] === value);
}

function purchase({ customer, wanted, site }: Order, metadata: Metadata, price: string) {
  const hasTax = site.settings.require('AUTOMATIC_TAX');
  return {
    mode: 'subscription',
    ui_mode: 'hosted_page',
    locale: site.language,
    customer,
    client_reference_id: metadata.userId,
    allowed_payment_method_types,
    line_items: [{ price, quantity: 1 }],
    subscription_data: {
      billing_mode: { type: 'flexible' },
      metadata: {
        userId: metadata.userId,
        tier: wanted.tier,
        ...startMetadata(wanted),
      },
    },
    ...(hasTax && {
      automatic_tax: { enabled: true },
      customer_update: { address: 'auto' },
    }),
    metadata,
    success_url: pageAddress(site, '/payment-success?session_id={CHECKOUT_SESSION_ID}'),
    cancel_url: pageAddress(site, '/payment-canceled'),
  } satisfies Stripe.Checkout.SessionCreateParams;
}

function setup({ customer, site }: Order, metadata: Metadata) {
  const hasTax = site.settings.require('AUTOMATIC_TAX');
  return {
    mode: 'setup',
    ui_mode: 'hosted_page',
    locale: site.language,
    customer,
    currency,
    client_reference_id: metadata.userId,
    allowed_payment_method_types,
    setup_intent_data: { metadata },
    ...(hasTax && { billing_address_collection: 'required' }),
    metadata,
    success_url: pageAddress(site, '/payment-details-saved?session_id={CHECKOUT_SESSION_ID}'),
    cancel_url: pageAddress(site, '/payment-canceled'),
  } satisfies Stripe.Checkout.SessionCreateParams;
}
