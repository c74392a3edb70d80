import { fetchInTime } from '../data/fetch-in-time.ts';
import * as timeLimits from '../data/time-limits.ts';
import { offlinePath } from './protocol.ts';

/* The offline page has this script alone. */

const longestPauseMs = 30_000;
let pauseMs = 1000;
let timer = 0;
let isLooking = false;

/** Opens the address once the server responds. Until then the page stays, since a failed reload would replace it. */
async function look(): Promise<void> {
  if (isLooking || document.hidden) return;

  isLooking = true;
  clearTimeout(timer);
  const response = await fetchInTime(location.href, timeLimits.readingMs, {
    method: 'HEAD',
    cache: 'no-store',
  });
  isLooking = false;
  if (response instanceof Response && response.status < 500) return location.reload();

  // A network is reported before its DNS works.
  timer = window.setTimeout(() => void look(), pauseMs);
  pauseMs = Math.min(pauseMs * 2, longestPauseMs);
}

// Served at its own address it would find itself for ever.
if (!location.pathname.endsWith(offlinePath)) {
  addEventListener('online', () => void look());
  document.addEventListener('visibilitychange', () => void look());
}
