import { storage } from './storage.ts';

const key = 'renewed';
const patience = 60_000;

/** A page that is older than the last deployment asks for parts that are gone: it is loaded anew, at most once a minute. */
export function renewAfterDeployment(): void {
  addEventListener('vite:preloadError', (event) => {
    const last = Number(storage.read(key) ?? 0);
    if (Date.now() - last < patience) return;
    storage.write(key, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
