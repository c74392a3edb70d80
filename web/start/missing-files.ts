import { steadyNow } from '../data/clock.ts';
import { fetchInTime } from '../data/fetch-in-time.ts';
import * as timeLimits from '../data/time-limits.ts';
import { appLink } from './protocol.ts';

/*
 * What all parts of the website use when a file did not load. Either the connection was lost, and
 * the file comes later; or a deployment has removed it, or the browser remembers that it failed,
 * and only a reload helps.
 */

/** The shortest time between two reloads, so that files that stay away end in a sentence. */
const minIntervalMs = 60_000;

/** The address of the app's file; none in an engine that is too old. */
export function appFile(): string | undefined {
  return (
    appLink()?.href ?? document.querySelector<HTMLScriptElement>('script[type=module][src]')?.src
  );
}

/** Returns what the server says of the app's file, past the cache: a status, or 0 without a response. */
export async function appFileStatus(): Promise<number> {
  const request = { method: 'HEAD', cache: 'no-store' } as const;
  const response = await fetchInTime(appFile() ?? '', timeLimits.readingMs, request);
  return typeof response === 'string' ? 0 : response.status;
}

/**
 * Reloads the page for its present files, unless this place of the history was reloaded a moment
 * ago. Returns whether it does. The history's state outlives a reload, and no browser blocks it.
 */
export function reloadOnce(reload = () => location.reload()): boolean {
  const { state } = history;
  const elapsed = steadyNow() - Number(state?.reloadedAt ?? 0);
  if (elapsed >= 0 && elapsed < minIntervalMs) return false;

  history.replaceState({ ...state, reloadedAt: steadyNow() }, '');
  reload();
  return true;
}
