import { useSession } from './use-session.ts';

export type Visitor = 'unknown' | 'guest' | 'member';

/** Who is here: unknown at build time and while a session starts. */
export function useVisitor(): Visitor {
  return useSession(({ user, isInitializing }) => (user ? 'member' : isInitializing ? 'unknown' : 'guest'));
}
