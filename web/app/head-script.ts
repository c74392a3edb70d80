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
    /** Chromium only; in ms. */
    readonly connection?: { readonly rtt?: number };
  }
}

function prepare(): void {
  const { dataset } = document.documentElement;
  const early = newEarlyStart();
  globalThis.earlyStart = early;
  // Served for browsers without scripts; guests are led to the login.
  const isCancel = location.pathname.endsWith('/cancel');
  if (isCancel || location.search || location.hash.startsWith(externalTokenPrefix))
    dataset['visitor'] = 'special';
  takeTokensFromAddress(early);
  const other = isTranslated
    ? preferredInstead(document.documentElement.lang, navigator.languages)
    : undefined;
  if (other) dataset['offer'] = other;
  try {
    const { theme, authToken, language } = localStorage;
    // Other addresses name their language.
    const home = isTranslated && location.pathname === '/' ? chosenHome(language) : null;
    if (language) delete dataset['offer'];
    if (home) location.replace(home + location.search + location.hash);
    if (theme === 'light' || theme === 'dark') showTheme(theme);
    if (!authToken) return;
    // A trial link replaces the stored session.
    if (early.trialToken) return;
    dataset['visitor'] = 'returning';
    // A wrong clock costs a second here, nothing else.
    // oxlint-disable-next-line no-restricted-properties
    if (!tokenExpired(authToken, Date.now())) sendFirstCalls(early, authToken);
  } catch {
    // Blocked storage: the visitor is a guest.
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

/** The server refuses it like any invalid token. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Besides the profile, by the end of the path. */
const pageReads: Record<string, string[]> = { '/chat': [newestMessagesPath] };

function sendFirstCalls(early: EarlyStart, token: string): void {
  early.token = token;
  for (const path of [
    profilePath,
    ...(pageReads[location.pathname.slice(location.pathname.lastIndexOf('/'))] ?? []),
  ]) {
    early.responses[path] = send(apiBase + path, timeLimits.reading, {
      // One script serves every language: all pages share a content policy.
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

/** Works before the scripts have loaded. */
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
      // Blocked storage has no memory.
    }
  });
}

/** `typed-input.ts` submits it again after hydration. */
function noteEarlySubmit(): void {
  addEventListener(
    'submit',
    ({ target }) => target instanceof HTMLElement && (target.dataset['sent'] = 'early'),
    {
      once: true,
    },
  );
}

/** CSS hides it from some until the scripts have run. */
function showGuestsPageWithoutScripts(): void {
  const show = ({ target }: Event) => {
    const isOwn = target instanceof HTMLScriptElement && isOwnScript(target.src, location.origin);
    if (isOwn) document.documentElement.dataset['visitor'] = 'unscripted';
  };
  // Such events do not bubble.
  addEventListener('error', show, { capture: true });
}

/** They would compete with it for bandwidth and CPU. */
function loadScriptsAfterPaint(): void {
  addEventListener('DOMContentLoaded', () => {
    const scripts = document.querySelector<HTMLTemplateElement>('#after-paint, #at-start');
    const load = () => scripts && document.head.append(scripts.content);
    if (document.hidden || scripts?.id === 'at-start') return load();
    new PerformanceObserver(load).observe({ type: 'paint', buffered: true });
    setTimeout(load, 1000);
  });
}

/** From this round-trip time (ms) on, preloads delay Chromium's paint by 80 ms (2026-11-22, tests/bench). */
const tooSlowForFonts = 200;

/** Browsers that report no time preload them. */
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
