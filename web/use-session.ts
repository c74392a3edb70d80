import { useSyncExternalStore } from 'react';
import { session, type Session } from './session.ts';

/** A part of the session; it must be a value of the store itself, never a fresh object. */
export function useSession<T>(select: (session: Session) => T): T {
  const read = () => select(session.get());
  return useSyncExternalStore(session.subscribe, read, read);
}
