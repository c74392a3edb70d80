import { useSyncExternalStore } from 'react';
import { session, startup, type Session } from './session.ts';

/** A part of the session; it must be a value of the store itself, never a fresh object. */
export function useSession<T>(select: (session: Session) => T): T {
  return useSyncExternalStore(
    session.subscribe,
    () => select(session.get()),
    () => select(startup),
  );
}
