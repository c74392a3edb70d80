import { storage } from '../data/storage.ts';

const key = 'reloadedAt';
const minimumInterval = 60_000;

/** Reloads a page that requests files of an earlier deployment. Without a connection that would lose the page. */
export function reloadAfterDeployment(): void {
  addEventListener('vite:preloadError', (event) => {
    if (navigator.onLine && reloadOnce()) event.preventDefault();
  });
}

/** Reloads the page, at most once a minute; returns whether it does. */
export function reloadOnce(): boolean {
  const last = Number(storage.read(key) ?? 0);
  if (Date.now() - last < minimumInterval) return false;
  storage.write(key, String(Date.now()));
  location.reload();
  return true;
}
