import { useEffect } from 'react';
import { fetchProfile } from './me.ts';
import { session } from './session.ts';

/** Fetches the profile again when the user returns to the tab. */
export function useFreshProfile(): void {
  useEffect(() => {
    const refresh = () => {
      if (document.visibilityState === 'visible' && session.get().token) void fetchProfile({ inBackground: true });
    };
    document.addEventListener('visibilitychange', refresh);
    return () => document.removeEventListener('visibilitychange', refresh);
  }, []);
}
