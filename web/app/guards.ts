import { redirect } from '@tanstack/react-router';
import { sessionReady } from '../data/session.ts';

type Guarded = { context: RouterContext };

/** `isPrerender` is true at build time, when there is no session and every guard lets the page through. */
export type RouterContext = { isPrerender: boolean };

/** For pages of an approved user. */
export async function requireUser({ context }: Guarded): Promise<void> {
  if (context.isPrerender) return;
  const { user } = await sessionReady();
  if (!user) throw redirect({ to: '/login', replace: true });
  if (user.status === 'pending') throw redirect({ to: '/pending-approval', replace: true });
}

/** For the page of a user who waits for approval. */
export async function requirePendingUser({ context }: Guarded): Promise<void> {
  if (context.isPrerender) return;
  const { user } = await sessionReady();
  if (!user) throw redirect({ to: '/login', replace: true });
  if (user.status !== 'pending') throw redirect({ to: '/account', replace: true });
}

/** For pages of guests. */
export async function requireGuest(): Promise<void> {
  const { user } = await sessionReady();
  if (user) throw redirect({ to: '/account', replace: true });
}
