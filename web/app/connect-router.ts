import type { RegisteredRouter } from '@tanstack/react-router';
import { addressToken } from '../start/early-start.ts';
import { onRedirect } from '../data/redirects.ts';
import { session } from '../data/session.ts';
import { loadInTime } from '../data/promise-limit.ts';
import { runningWork } from '../data/running-work.ts';
import { storage } from '../data/store.ts';
import { returnPage } from '../rules/destinations.ts';
import { showsCrisisLines } from '../rules/crash-rules.ts';
import { reloadAfterDeployment } from './deployment-change.ts';
import { externalTokenHash, tokenKey } from '../start/protocol.ts';

export function connectRouter(router: RegisteredRouter): void {
  reloadAfterDeployment();
  connectRedirects(router);
  router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
    if (pathChanged) runningWork.stopAll();
  });
  // Nothing needs it before the page can be used.
  void loadInTime(import('./page-listeners.ts')).then(
    ({ addPageListeners }) => addPageListeners(router),
    () => null,
  );
  openStreamOnceSignedIn(router);
  followStoredSession(router);
  beginSession(router);
}

function connectRedirects(router: RegisteredRouter): void {
  onRedirect((to, options) => {
    const { pathname, searchStr } = router.latestLocation;
    // Nobody is led away from the crisis lines.
    if (showsCrisisLines(pathname)) return Promise.resolve();

    const next = options?.comesBack ? returnPage(pathname + searchStr) : undefined;
    const search = next ? { next } : options?.search;
    return session.waitForRedirect(router.navigate({ to, search: search ?? {}, replace: true }));
  });
}

/** Follows the session of another tab, and what has changed while this page was in the history. */
function followStoredSession(router: RegisteredRouter): void {
  addEventListener('storage', ({ key, newValue }) => {
    storage.noteChange(key);
    if (key === tokenKey || key === null) void follow(newValue, router);
  });
  addEventListener('pageshow', ({ persisted }) => {
    // Its session may have ended since.
    if (persisted) void follow(session.storedToken(), router);
  });
  addEventListener('hashchange', () => {
    // A link opened in a tab of this site loads no page, which would take the token.
    if (location.hash.startsWith(externalTokenHash)) location.reload();
  });
}

function beginSession(router: RegisteredRouter): void {
  // A trial link replaces the stored session.
  const token = addressToken('trialToken') ? null : session.storedToken();
  if (token) void restore(token, router);
  else session.endInitialization();
}

const streamRetryMs = 5000;

function openStreamOnceSignedIn(router: RegisteredRouter): void {
  const isConversation = () => router.latestLocation.pathname.endsWith('/chat');
  const open = () =>
    void loadInTime(import('../data/session-stream.ts')).then(
      ({ sessionStream }) => sessionStream.start(isConversation),
      () => setTimeout(open, streamRetryMs),
    );
  const unsubscribe = session.subscribe(() => {
    if (!session.get().user) return;
    unsubscribe();
    open();
  });
}

/** Call it after the initialization has begun. */
async function restore(token: string, router: RegisteredRouter): Promise<void> {
  session.follow(token);
  const file = loadInTime(import('../data/profile-query.ts'));
  const me = await file.catch(() => null);
  if (me) await me.restoreSession(token);
  else session.noteOutage(token);
  session.endInitialization();
  await router.invalidate();
}

async function follow(token: string | null, router: RegisteredRouter): Promise<void> {
  if (token === session.get().token) return;
  session.beginInitialization();
  if (token) return restore(token, router);
  session.follow(null);
  session.endInitialization();
  await router.invalidate();
}
