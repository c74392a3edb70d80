import { fetchInTime } from '../data/fetch-in-time.ts';
import * as timeLimits from '../data/time-limits.ts';
import { isOwnScript } from '../rules/crash-rules.ts';
import { tokenExpired } from '../rules/token-claims.ts';
import {
  documentMarks,
  externalTokenHash,
  languageKey,
  marksOf,
  themeKey,
  tokenKey,
  type EarlyStart,
} from './protocol.ts';
import { showTheme } from '../app/theme-choice.ts';
import { takeTokensFromAddress } from './address-tokens.ts';
import { loadAppAfterPaint, preloadFontsInTime } from './after-paint.ts';
import { sendFirstCalls } from './first-calls.ts';
import { applyChosenLanguage, noteChosenLanguage, offerLanguage } from './language-offer.ts';
import { reloadOnce } from './missing-files.ts';

/** Runs in the head, before anything is shown, in this order. */
function prepare(): void {
  const early: EarlyStart = { responses: {} };
  globalThis.earlyStart = early;
  noteEntry();
  // Before the tokens are gone from the address.
  if (servedPageDiffers(location)) documentMarks().visitor = 'special';
  takeTokensFromAddress(early);
  offerLanguage();

  try {
    applyStored(localStorage, early);
  } catch {
    // Blocked storage: the visitor is a guest.
  }

  preloadFontsInTime();
  noteEarlySubmit();
  keepServedWithoutScripts();
  noteChosenLanguage();
  loadAppAfterPaint();
}

function noteEntry(): void {
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (entry) documentMarks().entry = entry.type;
}

/** Whether this address shows something else than the page that is served for it. */
function servedPageDiffers({ search, hash }: Location): boolean {
  return search !== '' || hash.startsWith(externalTokenHash);
}

function applyStored(stored: Storage, early: EarlyStart): void {
  const { [languageKey]: language, [themeKey]: theme, [tokenKey]: token } = stored;
  applyChosenLanguage(language);
  if (theme === 'light' || theme === 'dark') showTheme(theme);

  // A trial link replaces the stored session.
  if (!token || early.trialToken) return;

  documentMarks().visitor = 'returning';
  // A wrong clock costs a second here, nothing else.
  // oxlint-disable-next-line no-restricted-properties
  if (!tokenExpired(token, Date.now())) sendFirstCalls(early, token);
}

/** Marks a form that is submitted before React listens; `typed-input.ts` submits it again. */
function noteEarlySubmit(): void {
  const note = ({ target }: Event) => {
    if (target instanceof HTMLElement) marksOf(target).sent = 'early';
  };
  addEventListener('submit', note, { once: true });
}

/** Keeps the page as it was served if one of its scripts does not load. */
function keepServedWithoutScripts(): void {
  const keep = ({ target }: Event) => {
    const isOwn = target instanceof HTMLScriptElement && isOwnScript(target.src, location.origin);
    if (!isOwn || documentMarks().visitor === 'unscripted') return;

    documentMarks().visitor = 'unscripted';
    if (!isFirefox) void loadAgain(target.src);
  };
  // Such events do not bubble.
  addEventListener('error', keep, { capture: true });
}

/** Firefox cancels the files of a page that is left, and remembers no failure: a reload here would cancel the navigation. */
const isFirefox = navigator.userAgent.includes('Firefox/');

/**
 * Reloads the page once its files have loaded past the cache. WebKit remembers for a tab which
 * modules failed, also those that it cancelled when the page was left early.
 */
async function loadAgain(script: string): Promise<void> {
  const files = document.querySelectorAll<HTMLLinkElement>('[rel=modulepreload]');
  const addresses = [script, ...[...files].map(({ href }) => href)];
  const responses = await Promise.all(
    addresses.map((each) => fetchInTime(each, timeLimits.readingMs, { cache: 'reload' })),
  );

  // A page that fails again stays as it was served.
  const isLoaded = responses.every((response) => typeof response === 'object' && response.ok);
  if (isLoaded) reloadOnce();
}

prepare();
