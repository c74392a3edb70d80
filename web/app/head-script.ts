import { apiBase } from '../data/config.ts';
import type { EarlyStart } from '../data/early-start.ts';
import { tokenExpired } from '../rules/token.ts';

/**
 * Runs inline in the head of every page, before the first paint and before any call: takes tokens out of the address
 * bar, applies stored choices, and sends the first calls of a returning visitor while the scripts are loading.
 */
function prepare(): void {
  const { dataset } = document.documentElement;
  const early: EarlyStart = { externalToken: null, trialToken: null, token: null, responses: {} };
  window.earlyStart = early;
  if (location.search || location.hash.startsWith(externalTokenPrefix)) dataset['address'] = 'special';
  takeTokensFromAddress(early);
  try {
    const { theme, authToken } = localStorage;
    if (theme === 'light' || theme === 'dark') dataset['theme'] = theme;
    if (!authToken) return;
    // A trial link replaces the stored session.
    if (early.trialToken) return;
    dataset['visitor'] = 'returning';
    if (!tokenExpired(authToken, Date.now())) sendFirstCalls(early, authToken);
  } catch {
    // The browser forbids local storage: the visitor is a guest.
  }
}

const externalTokenPrefix = '#external_token=';

function takeTokensFromAddress(early: EarlyStart): void {
  const { pathname, search, hash } = location;
  const trialToken = pathname === '/activate-trial' ? new URLSearchParams(search).get('token') : null;
  if (hash.startsWith(externalTokenPrefix)) early.externalToken = decode(hash.slice(externalTokenPrefix.length));
  else if (trialToken) early.trialToken = trialToken;
  else return;
  history.replaceState(history.state, '', trialToken ? pathname : pathname + search);
}

/** A badly encoded fragment is sent as it is, and the server refuses it like any other bad token. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads of each page beside the profile, which every page needs. */
const pageReads: Record<string, string[]> = { '/chat': ['/api/user/chat?limit=50'] };

function sendFirstCalls(early: EarlyStart, token: string): void {
  early.token = token;
  for (const path of ['/api/user/me', ...(pageReads[location.pathname] ?? [])]) {
    const response = fetch(apiBase + path, {
      headers: { Authorization: `Bearer ${token}` },
      mode: 'cors',
      credentials: 'omit',
    });
    // The call that takes the response handles its failure.
    response.catch(() => null);
    early.responses[path] = response;
  }
}

/** A form that is sent before React listens is sent again then. */
function noteEarlySubmit(): void {
  addEventListener('submit', ({ target }) => target instanceof HTMLElement && (target.dataset['sent'] = 'early'), {
    once: true,
  });
}

/** Prerendered pages load their scripts after the first paint, which would otherwise share line and processor with them. */
function loadScriptsAfterPaint(): void {
  addEventListener('DOMContentLoaded', () => {
    const scripts = document.querySelector<HTMLTemplateElement>('template#after-paint');
    const load = () => scripts && document.head.append(scripts.content);
    if (document.hidden) return load();
    new PerformanceObserver(load).observe({ type: 'paint', buffered: true });
    // For browsers that do not report paints.
    setTimeout(load, 1000);
  });
}

prepare();
noteEarlySubmit();
loadScriptsAfterPaint();
