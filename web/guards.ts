import { redirect } from '@tanstack/react-router';
import { sessionReady, type Session } from './session.ts';

const isPending = ({ user }: Session) => user?.status === 'pending';

/** Pages of an approved person. */
export async function requireUser(): Promise<void> {
  const session = await sessionReady();
  if (!session.user) throw redirect({ to: '/login', replace: true });
  if (isPending(session)) throw redirect({ to: '/pending-approval', replace: true });
}

/** Pages of a person who waits for approval. */
export async function requirePending(): Promise<void> {
  const session = await sessionReady();
  if (!session.user) throw redirect({ to: '/login', replace: true });
  if (!isPending(session)) throw redirect({ to: '/account', replace: true });
}

/** Pages of people who are not logged in. */
export async function requireVisitor(): Promise<void> {
  const { user } = await sessionReady();
  if (user) throw redirect({ to: '/account', replace: true });
}
