import { apiBase } from '../data/build-settings.ts';
import {
  newEarlyStart,
  newestMessagesPath,
  profilePath,
  type EarlyStart,
} from '../data/early-start.ts';
import { isTranslated } from '#words/language';
import { chosenHome, preferredInstead } from './language-addresses.ts';
import { isOwnScript } from '../rules/own-errors.ts';
import { send } from '../data/send.ts';
import * as timeLimits from '../data/time-limits.ts';
import { tokenExpired } from '../rules/token-claims.ts';
import { showTheme } from './theme-choice.ts';

declare global {
  interface Navigator {
    /** Chromium only; `rtt` in ms. */
    readonly connection?: { readonly rtt?: number };
  }
}

/** Runs in every head: takes tokens out of the address bar, and sends a returning visitor's first API calls. */
function prepare(): void {
  /** `data-visitor`, `data-offer` and `data-theme`; `start-modes.ts` says what the first means. */
  const { dataset } = document.documentElement;
  const early = newEarlyStart();
  globalThis.earlyStart = early;
  // Its served page is for browsers without scripts: the scripts show the login to a guest.
  const isCancel = location.pathname.endsWith('/cancel');
  if (isCancel || location.search || location.hash.startsWith(externalTokenPrefix))
    dataset['visitor'] = 'special';
  takeTokensFromAddress(early);
  // A choice of a language is stored, and then nothing is offered.
  const other = isTranslated
    ? preferredInstead(document.documentElement.lang, navigator.languages)
    : undefined;
  if (other) dataset['offer'] = other;
  try {
    const { theme, authToken, language } = localStorage;
    // Every other address says its language itself.
    const home = isTranslated && location.pathname === '/' ? chosenHome(language) : null;
    if (language) delete dataset['offer'];
    if (home) location.replace(home + location.search + location.hash);
    if (theme === 'light' || theme === 'dark') showTheme(theme);
    if (!authToken) return;
    // A trial link replaces the stored session.
    if (early.trialToken) return;
    dataset['visitor'] = 'returning';
    // A device whose clock is wrong loses a second here, and nothing else.
    // oxlint-disable-next-line no-restricted-properties
    if (!tokenExpired(authToken, Date.now())) sendFirstCalls(early, authToken);
  } catch {
    // The browser blocks local storage, so the visitor is a guest.
  }
}

const externalTokenPrefix = '#external_token=';

function takeTokensFromAddress(early: EarlyStart): void {
  const { pathname, search, hash } = location;
  const trialToken = pathname.endsWith('/activate-trial')
    ? new URLSearchParams(search).get('token')
    : null;
  if (hash.startsWith(externalTokenPrefix))
    early.externalToken = decode(hash.slice(externalTokenPrefix.length));
  else if (trialToken) early.trialToken = trialToken;
  else return;
  history.replaceState(history.state, '', trialToken ? pathname : pathname + search);
}

/** A badly encoded fragment is sent unchanged, and the server refuses it like any invalid token. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** By the end of the path, which is the same in every language: the API calls of each page besides the profile, which every page needs. */
const pageReads: Record<string, string[]> = { '/chat': [newestMessagesPath] };

function sendFirstCalls(early: EarlyStart, token: string): void {
  early.token = token;
  for (const path of [
    profilePath,
    ...(pageReads[location.pathname.slice(location.pathname.lastIndexOf('/'))] ?? []),
  ]) {
    early.responses[path] = send(apiBase + path, timeLimits.reading, {
      // One script serves every language, so that all pages have the same content security policy.
      headers: {
        Authorization: `Bearer ${token}`,
        'Accept-Language': document.documentElement.lang,
      },
      mode: 'cors',
      credentials: 'omit',
      // As in `web/data/api-client.ts`.
      cache: 'no-store',
    });
  }
}

/** A click on a language is remembered, and so is a refusal of the offer, also before the scripts have loaded. */
function noteChosenLanguage(): void {
  addEventListener('click', ({ target }) => {
    const choice =
      target instanceof Element && target.closest<HTMLAnchorElement>('a[hreflang], .offer button');
    if (!choice) return;
    const { lang, dataset } = document.documentElement;
    delete dataset['offer'];
    if (choice.hreflang) choice.search = location.search;
    try {
      localStorage['language'] = choice.hreflang ?? lang;
    } catch {
      // Without local storage there is no memory.
    }
  });
}

/** A form that is submitted before React has hydrated it is submitted again afterwards. */
function noteEarlySubmit(): void {
  addEventListener(
    'submit',
    ({ target }) => target instanceof HTMLElement && (target.dataset['sent'] = 'early'),
    {
      once: true,
    },
  );
}

/** Without the scripts everybody sees the guests' page as it is served, which CSS hides from some until they have run. */
function showGuestsPageWithoutScripts(): void {
  const show = ({ target }: Event) => {
    const isOwn = target instanceof HTMLScriptElement && isOwnScript(target.src, location.origin);
    if (isOwn) document.documentElement.dataset['visitor'] = 'unscripted';
  };
  // Such events do not bubble.
  addEventListener('error', show, { capture: true });
}

/** The scripts would compete with the first paint for bandwidth and CPU, where there is one before them. */
function loadScriptsAfterPaint(): void {
  addEventListener('DOMContentLoaded', () => {
    const scripts = document.querySelector<HTMLTemplateElement>('#after-paint, #at-start');
    const load = () => scripts && document.head.append(scripts.content);
    if (document.hidden || scripts?.id === 'at-start') return load();
    new PerformanceObserver(load).observe({ type: 'paint', buffered: true });
    setTimeout(load, 1000);
  });
}

/**
 * The round-trip time (ms) from which fonts arrive after the first paint. Chromium delays the paint for preloaded fonts,
 * so preloading them on slow 4G paints the landing page 80 ms later, without fonts (2026-11-22, tests/bench).
 */
const tooSlowForFonts = 200;

/** Browsers that do not report their round-trip time preload the fonts. */
function preloadFontsInTime(): void {
  const fonts = document.querySelector<HTMLTemplateElement>('template#fonts');
  const roundTripMs = navigator.connection?.rtt ?? 0;
  if (fonts && roundTripMs < tooSlowForFonts) document.head.append(fonts.content);
}

prepare();
preloadFontsInTime();
noteEarlySubmit();
showGuestsPageWithoutScripts();
if (isTranslated) noteChosenLanguage();
loadScriptsAfterPaint();
