import type { Withdrawal } from '#db/schema';
import { cancelPlan as cancel, resumePlan as resume } from '../billing/cancellation.ts';
import { checkoutOf, planPage, stripeAsked } from '../billing/checkout.ts';
import {
  leaseOf,
  withLease,
  type CustomerChanges,
  type LeasedCustomer,
  type LeaseResult,
} from '../billing/lease.ts';
import { billingCalls, billingPages } from '../billing/billing-limits.ts';
import { countReason } from '../billing/cancel-reason.ts';
import { portalPage } from '../billing/portal.ts';
import { syncLeased } from '../billing/sync.ts';
import type { Handler, UserScope } from '../http/handlers.ts';
import { refusalOf, type SessionLimit, type UserSession } from '../identity/user-session.ts';
import type { Limited } from '../lib/rate-limits.ts';
import { withinLimit } from '../identity/limited-act.ts';
import { entitledTier } from '../usage/allowance.ts';
import { subscriptionOf } from '../usage/profile.ts';
import { keepChoice, type Choice } from '../billing/start-choice.ts';
import type { Settings } from '../settings.ts';
import { lastStatement, shownStatement } from '../withdrawal/shown-statement.ts';
import { statementsOf } from '../withdrawal/statements.ts';
import type { Scope } from '../request-scope.ts';

export const createSubscriptionUpdateSession: Handler<'createSubscriptionUpdateSession'> = async (
  scope,
) => {
  const { tier, startNow } = scope.input;
  const wanted = tier && { tier, startNow };
  return withOwnPage(
    scope,
    (leased, limitedBy) => pageFor(scope, { leased, limitedBy, wanted }),
    wanted && stripeAsked(scope.now),
  );
};

type PageForOptions = {
  leased: LeasedCustomer;
  limitedBy: SessionLimit | null;
  wanted: Choice | undefined;
};

async function pageFor(
  scope: UserScope<'createSubscriptionUpdateSession'>,
  { leased, limitedBy, wanted }: PageForOptions,
): Promise<LeaseResult<string>> {
  const { language, now } = scope;
  if (limitedBy === 'newOwner') throw refusalOf(limitedBy);
  const page = await planPage({ ...scope, limitedBy }, leased, wanted);
  if (!wanted) return page;

  return {
    ...page,
    effects: (release) => {
      page.effects?.(release);
      keepChoice(release, ['released'], { ...wanted, language, now }, leased.user.id);
    },
  };
}

export const createPortalSession: Handler<'createPortalSession'> = async (scope) =>
  withOwnPage(scope, (leased) => portalPage(scope, leased));

export const verifyCheckoutSession: Handler<'verifyCheckoutSession'> = async (scope) =>
  withOwnLease(scope, async (leased) => {
    const { settings, input, now } = scope;
    const checkout = await checkoutOf(settings, leased, input.sessionId);
    const { result: user, ...release } = await syncLeased(scope, leased);
    const newTier = entitledTier(user, Date.now());
    const tierBefore = checkout.metadata?.tierBefore ?? entitledTier(leased.user, now);
    const success = checkout.status === 'complete';
    const isPlanRefused = success && checkout.mode === 'setup' && subscriptionOf(user) === null;
    return {
      result: {
        success,
        tierUpdated: success && newTier !== tierBefore,
        newTier,
        ...(isPlanRefused && { planRefused: true as const }),
      },
      ...release,
    };
  });

export const getSubscription: Handler<'getSubscription'> = async ({ session, db, settings }) =>
  session.run([statementsOf(db, session.tokenUserId)], ({ user, limitedBy }, statements) => ({
    success: true,
    subscription: subscriptionOf(user),
    ...(!limitedBy && openWithdrawal(settings, statements)),
  }));

function openWithdrawal(settings: Settings, statements: Withdrawal[]) {
  const days = settings.require('WITHDRAWAL_DAYS');
  const last = lastStatement(statements);
  return days > 0 && last && last.state !== 'done' ? { withdrawal: shownStatement(last) } : {};
}

export const cancelPlan: Handler<'cancelPlan'> = async (scope) =>
  withOwnLease(scope, async (leased) => {
    const { result: cancelAt, ...release } = await cancel(scope, leased);
    // Without a date, the subscription ended meanwhile.
    const cancelAtDate = new Date(cancelAt ?? scope.now).toISOString();
    return { result: { success: true as const, cancelAtDate }, ...release };
  });

export const resumePlan: Handler<'resumePlan'> = async (scope) =>
  withOwnLease(scope, async (leased) => {
    const { result: _, ...release } = await resume(scope, leased);
    return { result: { success: true as const }, ...release };
  });

export const giveCancelReason: Handler<'giveCancelReason'> = async ({ session, input, now }) =>
  countReason(session, { reason: input.reason, now }, () => ({ success: true }));

type OwnScope = Scope<'db' | 'now' | 'waitUntil'> & { session: UserSession };

type LimitedWork<T> = (
  leased: LeasedCustomer,
  limitedBy: SessionLimit | null,
) => Promise<LeaseResult<T>>;

/** Throws 429 for a user who asks Stripe too often. */
const withOwnLease = <T>(scope: OwnScope, work: LimitedWork<T>) =>
  withLimitedLease(scope, billingCalls(scope.session.tokenUserId), work);

const withOwnPage = (scope: OwnScope, work: LimitedWork<string>, changes?: CustomerChanges) =>
  withLimitedLease(
    scope,
    billingPages(scope.session.tokenUserId),
    (...held) => toPage(work(...held)),
    changes,
  );

function withLimitedLease<T>(
  scope: OwnScope,
  limited: Limited,
  work: LimitedWork<T>,
  changes?: CustomerChanges,
) {
  const { session, db, now } = scope;
  const reads = { seen: leaseOf(db, session.tokenUserId) };
  return withinLimit(session, { ...limited, now, reads }, ({ user, limitedBy }, { seen }) =>
    withLease(scope, user.id, (leased) => work(leased, limitedBy), { changes, seen }),
  );
}

async function toPage(page: Promise<LeaseResult<string>>) {
  const { result: portalUrl, ...release } = await page;
  return { result: { success: true as const, portalUrl }, ...release };
}
