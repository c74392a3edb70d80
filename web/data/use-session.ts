import { useSyncExternalStore } from 'react';
import { initialSession, session, type Session } from './session.ts';

/** A part of the session. The selector must return a stored value, never a new object. */
export function useSession<T>(select: (session: Session) => T): T {
  return useSyncExternalStore(
    session.subscribe,
    () => select(session.get()),
    () => select(initialSession),
  );
}

export type Visitor = 'unknown' | 'guest' | 'member';

/** The kind of visitor; unknown at build time and while a session starts. */
export function useVisitor(): Visitor {
  return useSession(({ user, isInitializing }) => (user ? 'member' : isInitializing ? 'unknown' : 'guest'));
}
