import { redirect } from '@tanstack/react-router';
import { session, sessionReady } from '../data/session.ts';

type Guarded = { context: RouterContext };

/** `isPrerender` is true at build time, when there is no session and every guard allows the page. */
export type RouterContext = { isPrerender: boolean };

/** Allows approved users. */
export async function requireUser({ context }: Guarded): Promise<void> {
  if (context.isPrerender) return;
  const { user } = await sessionReady();
  if (!user) throw redirect({ to: '/login', replace: true });
  if (user.status === 'pending') throw redirect({ to: '/pending-approval', replace: true });
}

/** Allows users with a pending account. */
export async function requirePendingUser({ context }: Guarded): Promise<void> {
  if (context.isPrerender) return;
  const { user } = await sessionReady();
  if (!user) throw redirect({ to: '/login', replace: true });
  if (user.status !== 'pending') throw redirect({ to: '/account', replace: true });
}

/** Allows guests, and users of a trial link who need a code for more. */
export async function requireGuest(): Promise<void> {
  const { user } = await sessionReady();
  if (user && !session.needsCode()) throw redirect({ to: '/account', replace: true });
}
