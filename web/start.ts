import type { RegisteredRouter } from '@tanstack/react-router';
import { departures } from './departures.ts';
import { externalToken } from './external-token.ts';
import { renewAfterDeployment } from './renew.ts';
import { session, tokenKey } from './session.ts';

/** Brings the session to life and keeps the router, the other tabs and the tab's own past in step with it. */
export function start(router: RegisteredRouter): void {
  const stopWaiting = session.subscribe(() => {
    if (!session.get().user) return;
    stopWaiting();
    void import('./live/follow-usage.ts').then(({ followUsage }) => followUsage());
  });
  departures.listen((to) => router.navigate({ to, replace: true }));
  addEventListener('storage', ({ key, newValue }) => {
    if (key === tokenKey || key === null) void adopt(newValue, router);
  });
  addEventListener('pageshow', ({ persisted }) => {
    // A page that comes back from memory may show somebody who has left meanwhile.
    if (persisted) void adopt(session.storedToken(), router);
  });
  renewAfterDeployment();
  if (session.storedToken() && !externalToken.isWaiting()) void signBackIn(router);
  else session.setInitializing(false);
}

async function signBackIn(router: RegisteredRouter): Promise<void> {
  session.markStarting();
  const profile = await import('./profile.ts').catch(() => null);
  if (profile) await profile.initialise();
  session.setInitializing(false);
  await router.invalidate();
}

/** Follows another tab: a token that went ends this session too, a new one begins it. */
async function adopt(token: string | null, router: RegisteredRouter): Promise<void> {
  if (token === session.get().token) return;
  session.clear({ keepStored: true });
  if (token) return signBackIn(router);
  await router.invalidate();
}
