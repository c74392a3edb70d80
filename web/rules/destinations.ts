import { planIds, type PlanId } from '#contract/plans';

export type Destination = '/' | '/login' | '/account' | '/pending-approval' | '/plans' | ReturnPage;

export type ReturnPage = '/cancel';

/** The page to which a login leads back, from the search parameter `next` or from a path in any language. */
export function returnPage(path: unknown): ReturnPage | undefined {
  return typeof path === 'string' && /^(\/[a-z-]+)?\/cancel\/?$/.test(path) ? '/cancel' : undefined;
}

export type CheckoutSearch = { session_id?: string };

/** The checkout session that the payment provider adds to the return address. */
export function checkoutSearch({ session_id }: Record<string, unknown>): CheckoutSearch {
  return typeof session_id === 'string' && session_id !== '' ? { session_id } : {};
}

export type AfterLogin = { to: Destination; toast: 'none' | 'success' | 'issue' };

export type LoginWishes = { plan?: string | undefined; next?: ReturnPage | undefined };

export function afterLogin(
  status: string | null | undefined,
  { plan, next }: LoginWishes,
): AfterLogin {
  if (isPlanId(plan)) return { to: '/account', toast: 'success' };
  if (!status || status === 'approved' || status === 'authenticated')
    return { to: next ?? '/account', toast: 'none' };
  if (status === 'pending') return { to: '/pending-approval', toast: 'none' };
  return { to: '/', toast: 'issue' };
}

export function isPlanId(id: string | undefined): id is PlanId {
  return planIds.some((known) => known === id);
}
