import { apiBase } from '../data/build-settings.ts';
import { newestMessagesPath, profilePath, type EarlyStart } from './protocol.ts';
import { fetchInTime } from '../data/fetch-in-time.ts';
import * as timeLimits from '../data/time-limits.ts';

/** What a page reads besides the profile, by the end of its path. */
const pageReads: Record<string, string[]> = { '/chat': [newestMessagesPath] };

/** Sends a page's first calls while the scripts load. */
export function sendFirstCalls(early: EarlyStart, token: string): void {
  early.token = token;

  const page = location.pathname.slice(location.pathname.lastIndexOf('/'));
  for (const path of [profilePath, ...(pageReads[page] ?? [])]) {
    early.responses[path] = fetchInTime(apiBase + path, timeLimits.readingMs, {
      // One head script serves every language, so that one hash allows it on all pages.
      headers: {
        Authorization: `Bearer ${token}`,
        'Accept-Language': document.documentElement.lang,
      },
      mode: 'cors',
      credentials: 'omit',
      // As in `web/data/api-transport.ts`.
      cache: 'no-store',
    });
  }
}
