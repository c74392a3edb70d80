import { steadyNow } from '../data/clock.ts';
import { fetchInTime } from '../data/fetch-in-time.ts';
import * as timeLimits from '../data/time-limits.ts';
import { keptInTab } from '../data/kept-in-tab.ts';
import { createStore, tabStorage } from '../data/store.ts';
import { showToast } from '../data/toasts.ts';
import { layoutWords } from '#words/layout';
import { appLink } from '../start/protocol.ts';

const key = 'reloadedAt';
const minimumIntervalMs = 60_000;

/** Replaces the engines' messages, for which the router itself would reload the page. */
export const partMissing = 'A part of this page could not be loaded.';

/** Reloads the page only if a file was removed: Firefox and WebKit cancel files when somebody leaves. */
export function reloadAfterDeployment(): void {
  addEventListener('vite:preloadError', ({ payload }) => {
    payload.message = partMissing;
    missing.set({ check: reloadIfReplaced() });
  });
}

const missing = createStore({ check: Promise.resolve() });

/** Waits for the check of a missing file. It never resolves if the page is loaded again. */
export const afterCheck = (): Promise<void> => missing.get().check;

async function reloadIfReplaced(): Promise<void> {
  if (keptInTab.isLostByReload() || hasUnkeptText()) return;
  if ((await isReplaced()) && reloadOnce()) await new Promise(() => {});
}

/** Whether a deployment has replaced the app's file; false without a response. */
async function isReplaced(): Promise<boolean> {
  const app = appAddress();
  if (!app) return false;
  const request = { method: 'HEAD', cache: 'no-store' } as const;
  const response = await fetchInTime(app, timeLimits.reading, request);
  return typeof response === 'object' && response.status === 404;
}

function appAddress(): string | undefined {
  return (
    appLink()?.href ?? document.querySelector<HTMLScriptElement>('script[type=module][src]')?.src
  );
}

function hasUnkeptText(): boolean {
  const fields = document.querySelectorAll<HTMLTextAreaElement>('form:not([data-kept]) textarea');
  return [...fields].some(({ value }) => value !== '');
}

/** Reloads the page at most once a minute. Each tab has its own old files. */
function reloadOnce(): boolean {
  const elapsed = steadyNow() - Number(tabStorage.read(key) ?? 0);
  if (elapsed >= 0 && elapsed < minimumIntervalMs) return false;
  tabStorage.write(key, String(steadyNow()));
  tabStorage.write(updatedKey, 'yes');
  keptInTab.reload();
  return true;
}

const updatedKey = 'updated';

/** Says after a reload why a press had no effect: its file was removed. */
export function sayWhyReloaded(): void {
  if (tabStorage.read(updatedKey) === null) return;
  tabStorage.remove(updatedKey);
  showToast({ type: 'success', title: layoutWords.updated });
}
