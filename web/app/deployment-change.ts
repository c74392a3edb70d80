import { steadyNow } from '../data/clock.ts';
import { send } from '../data/send.ts';
import * as timeLimits from '../data/time-limits.ts';
import { keptInTab } from '../data/kept-in-tab.ts';
import { createStore, storage, tabStorage } from '../data/store.ts';
import { showToast } from '../data/toasts.ts';
import { layoutWords } from '#words/layout';

const key = 'reloadedAt';
const minimumInterval = 60_000;

/** The message of the error of a part that did not load; the router loads the page again for those of the engines. */
export const partMissing = 'A part of this page could not be loaded.';

/**
 * Loads the page again when it needs files of an earlier deployment, and in no other case: Firefox and WebKit cancel the
 * files that a page is loading as soon as somebody leaves it, and a reload then would take the place of the new page.
 */
export function reloadAfterDeployment(): void {
  addEventListener('vite:preloadError', ({ payload }) => {
    payload.message = partMissing;
    missing.set({ check: reloadIfReplaced() });
  });
}

/** The check of the last part that was missing. */
const missing = createStore({ check: Promise.resolve() });

/** Resolves when it is known whether a missing part belongs to an earlier deployment; never if the page is loaded again. */
export const afterCheck = (): Promise<void> => missing.get().check;

async function reloadIfReplaced(): Promise<void> {
  if (keptInTab.isLostByReload() || hasUnkeptText()) return;
  if ((await isReplaced()) && reloadOnce()) await new Promise(() => {});
}

/** Whether a deployment has removed the files of this page. False without a response. */
async function isReplaced(): Promise<boolean> {
  const app = appAddress();
  if (!app) return false;
  const request = { method: 'HEAD', cache: 'no-store' } as const;
  const response = await send(app, timeLimits.reading, request);
  return typeof response === 'object' && response.status === 404;
}

function appAddress(): string | undefined {
  const preloaded = document.querySelector<HTMLLinkElement>('link#app')?.href;
  return preloaded ?? document.querySelector<HTMLScriptElement>('script[type=module][src]')?.src;
}

/** Whether a form shows a text that the tab does not keep. */
function hasUnkeptText(): boolean {
  const fields = document.querySelectorAll<HTMLTextAreaElement>('form:not([data-kept]) textarea');
  return [...fields].some(({ value }) => value !== '');
}

/** Reloads the page, at most once a minute; returns whether it does. */
function reloadOnce(): boolean {
  const elapsed = steadyNow() - Number(storage.read(key) ?? 0);
  if (elapsed >= 0 && elapsed < minimumInterval) return false;
  storage.write(key, String(steadyNow()));
  tabStorage.write(updatedKey, 'yes');
  keptInTab.reload();
  return true;
}

const updatedKey = 'updated';

/** A press had no effect if its file was gone: the page that was loaded again says why. */
export function sayWhyReloaded(): void {
  if (tabStorage.read(updatedKey) === null) return;
  tabStorage.remove(updatedKey);
  showToast({ type: 'success', title: layoutWords.updated });
}
