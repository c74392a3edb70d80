import { planIds, type PlanId } from '#contract/plans';
/** Pages to which the app redirects. */
export type Destination = '/' | '/login' | '/account' | '/pending-approval' | '/plans';

export type AfterLogin = { to: Destination; notice: 'none' | 'success' | 'issue' };

/** The page after a code was verified. */
export function afterLogin(status: string | null | undefined, plan: string | undefined): AfterLogin {
  if (isPlanId(plan)) return { to: '/account', notice: 'success' };
  if (!status || status === 'approved' || status === 'authenticated') return { to: '/account', notice: 'none' };
  if (status === 'pending') return { to: '/pending-approval', notice: 'none' };
  return { to: '/', notice: 'issue' };
}

/** Whether a plan of that id exists. */
export function isPlanId(id: string | undefined): id is PlanId {
  return planIds.some((known) => known === id);
}
