import { storage } from '../data/storage.ts';

const key = 'reloadedAt';
const minimumInterval = 60_000;

/** Reloads a page that requests files of an earlier deployment, at most once a minute. */
export function reloadAfterDeployment(): void {
  addEventListener('vite:preloadError', (event) => {
    const last = Number(storage.read(key) ?? 0);
    if (Date.now() - last < minimumInterval) return;
    storage.write(key, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
