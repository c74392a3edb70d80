import { keptInTab } from '../data/kept-in-tab.ts';
import { createStore, tabStorage } from '../data/store.ts';
import { showToast } from '../data/toasts.ts';
import { layoutWords } from '#words/layout';
import { appFile, appFileStatus, reloadOnce } from '../start/missing-files.ts';

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

  const isReplaced = appFile() !== undefined && (await appFileStatus()) === 404;
  // The page is loaded again: whoever waits must not go on.
  if (isReplaced && reloadOnce(reloadUpdated)) return new Promise(() => {});
}

function hasUnkeptText(): boolean {
  const fields = document.querySelectorAll<HTMLTextAreaElement>('form:not([data-kept]) textarea');
  return [...fields].some(({ value }) => value !== '');
}

function reloadUpdated(): void {
  tabStorage.write(updatedKey, 'yes');
  keptInTab.reload();
}

const updatedKey = 'updated';

/** Says after a reload why a press had no effect: its file was removed. */
export function sayWhyReloaded(): void {
  if (tabStorage.read(updatedKey) === null) return;
  tabStorage.remove(updatedKey);
  showToast({ type: 'success', title: layoutWords.updated });
}
