import { storage } from '../data/store.ts';

const key = 'reloadedAt';
const minimumInterval = 60_000;

/** Reloads a page that requests files of an earlier deployment. Without a connection that would lose the page. */
export function reloadAfterDeployment(): void {
  addEventListener('vite:preloadError', (event) => {
    if (navigator.onLine && !hasUnsent() && reloadOnce()) event.preventDefault();
  });
}

/** Whether the page shows a text that a reload would lose; only its author reloads the page then. */
export function hasUnsent(): boolean {
  const hasDraft = [...document.querySelectorAll('textarea')].some(({ value }) => value !== '');
  return hasDraft || document.querySelector('[data-state=unsent]') !== null;
}

/** Reloads the page, at most once a minute; returns whether it does. */
export function reloadOnce(): boolean {
  const last = Number(storage.read(key) ?? 0);
  if (Date.now() - last < minimumInterval) return false;
  storage.write(key, String(Date.now()));
  location.reload();
  return true;
}

/** Applies the whole stylesheet (the page has its own rules alone); loads the page again if the file is missing. */
export async function applyStylesheet(): Promise<void> {
  const href = document.querySelector<HTMLLinkElement>('link[rel=preload][as=style]')?.href;
  // The first attempt gets the response to the preload, which may have failed before the connection came back.
  if (!href || (await apply(href)) || (await apply(href))) return;
  dispatchEvent(new Event('vite:preloadError', { cancelable: true }));
}

function apply(href: string): Promise<boolean> {
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  return new Promise((resolve) => {
    link.addEventListener('load', () => resolve(true));
    link.addEventListener('error', () => resolve(false));
    document.head.append(link);
  });
}
