import { redirect } from '@tanstack/react-router';
import { session, sessionReady } from '../data/session.ts';
import type { User } from '../rules/user-profile.ts';
import { isPlanId, readReturnPage, returnPage, type SignInWishes } from '../rules/destinations.ts';

type Guarded = { context: RouterContext };
type Address = { pathname: string; searchStr: string; search: { plan?: string } };

/** At build time there is no session, and guards allow every page. */
export type RouterContext = { isPrerender: boolean };

/** Thrown in an outage; it has a screen of its own. */
export const accountUnreached = new Error('account unreached');

async function reachedUser(): Promise<User | null> {
  const { user, isUnreached } = await sessionReady();
  if (isUnreached) throw accountUnreached;
  return user;
}

export async function requireUser({
  context,
  location,
}: Guarded & { location: Address }): Promise<void> {
  if (context.isPrerender) return;
  const user = await reachedUser();
  if (!user) throw redirect({ to: '/login', search: wishesAt(location), replace: true });
  if (user.status === 'pending') throw redirect({ to: '/pending-approval', replace: true });
}

function wishesAt({ pathname, searchStr, search: { plan } }: Address): SignInWishes {
  const next = returnPage(pathname + searchStr);
  return { next, plan: !next && isPlanId(plan) ? plan : undefined };
}

export async function requirePendingUser({ context }: Guarded): Promise<void> {
  if (context.isPrerender) return;
  const user = await reachedUser();
  if (!user) throw redirect({ to: '/login', replace: true });
  if (user.status !== 'pending') throw redirect({ to: '/account', replace: true });
}

/** Leads members away, except a trial link's user who needs a code for more. */
export async function requireGuest(next: string | undefined): Promise<void> {
  const { user, isUnreached } = await sessionReady();
  const isMember = user !== null || isUnreached;
  if (!isMember || session.needsCode()) return;
  throw redirect({ ...(readReturnPage(next) ?? { to: '/account' }), replace: true });
}
