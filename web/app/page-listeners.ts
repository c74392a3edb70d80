import type { RegisteredRouter } from '@tanstack/react-router';
import { sayWhyReloaded } from './deployment-change.ts';
import { keepFocus } from './focus-keeper.ts';
import { layoutWords } from '#words/layout';
import { session, sessionReady } from '../data/session.ts';
import { closeShownNotices, noticesKey } from '../data/shown-notices.ts';
import { storage } from '../data/store.ts';
import { endedToast, showToast, dismissToast } from '../data/toasts.ts';
import { loadInTime } from '../data/promise-limit.ts';
import { isInApp } from '../rules/in-app.ts';

/** Adds what no page needs at its start; this file loads after it. */
export function addPageListeners(router: RegisteredRouter): void {
  keepFocus();
  refuseFiles();
  ignoreHeldEnter();
  openLinksHere();
  followSession();
  endOutages(router);
  sayWhyReloaded();
  void renewNotices();
}

async function renewNotices(): Promise<void> {
  const { token, user } = await sessionReady();
  if (!token || !user || storage.read(noticesKey) === null) return;
  const file = await loadInTime(import('../data/push-subscription.ts')).catch(() => null);
  // The account and the next page try again.
  await file?.renewLostSubscription(token).catch(() => null);
}

/** Refuses files: a dropped one would replace the page, a pasted one would vanish. */
function refuseFiles(): void {
  addEventListener('dragover', (event) => {
    if (hasFiles(event.dataTransfer)) event.preventDefault();
  });

  addEventListener('drop', (event) => {
    if (!hasFiles(event.dataTransfer)) return;
    event.preventDefault();
    sayWhy();
  });

  addEventListener('paste', ({ clipboardData }) => {
    if (hasFiles(clipboardData) && !clipboardData?.getData('text/plain')) sayWhy();
  });
}

const hasFiles = (data: DataTransfer | null) => data?.types.includes('Files') ?? false;

const sayWhy = () => showToast({ type: 'error', title: layoutWords.noFiles });

/** Ignores a held Enter key, which would press again on what may be another button by then. */
function ignoreHeldEnter(): void {
  addEventListener(
    'keydown',
    (event) => {
      const isText = event.target instanceof HTMLTextAreaElement;
      if (event.repeat && event.key === 'Enter' && !isText) event.preventDefault();
    },
    { capture: true },
  );
}

/** Opens links in this view inside apps, which drop a second one without a word. */
function openLinksHere(): void {
  if (!isInApp(navigator)) return;
  addEventListener(
    'click',
    ({ target }) => {
      const link = target instanceof Element && target.closest('a[target]');
      if (link) link.removeAttribute('target');
    },
    { capture: true },
  );
}

/** Closes notices when their session ends, since another person may read them. */
function followSession(): void {
  let token = session.get().token;
  session.subscribe(() => {
    const before = token;
    token = session.get().token;
    if (before !== null && before !== token) void closeShownNotices();
    if (before !== token && token !== null) dismissToast(endedToast);
  });
}

function endOutages(router: RegisteredRouter): void {
  let isTrying = false;

  const check = async () => {
    if (isTrying || !session.get().isUnreached) return;
    isTrying = true;
    const file = await loadInTime(import('./account-unreached.tsx')).catch(() => null);
    await file?.untilReached();
    isTrying = false;
    if (file) await router.invalidate();
  };

  session.subscribe(() => void check());
  void check();
}
