import { newEarlyStart, type EarlyStart } from '../data/early-start.ts';
import { isOwnScript } from '../rules/own-errors.ts';
import { tokenExpired } from '../rules/token-claims.ts';
import { takeTokensFromAddress } from './head/address-tokens.ts';
import { loadScriptsAfterPaint, preloadFontsInTime } from './head/after-paint.ts';
import { sendFirstCalls } from './head/first-calls.ts';
import { applyChosenLanguage, noteChosenLanguage, offerLanguage } from './head/language-offer.ts';
import { showTheme } from './theme-choice.ts';

/** Runs in the head, before anything is shown, in this order. */
function prepare(): void {
  const early = newEarlyStart();
  globalThis.earlyStart = early;
  // Before the tokens are gone from the address.
  markSpecialVisitor();
  takeTokensFromAddress(early);
  offerLanguage();
  try {
    applyStored(localStorage, early);
  } catch {
    // Blocked storage: the visitor is a guest.
  }
  preloadFontsInTime();
  noteEarlySubmit();
  showGuestsPageWithoutScripts();
  noteChosenLanguage();
  loadScriptsAfterPaint();
}

/** `start-modes.ts` says what is shown then; guests are led from `/cancel` to the login. */
function markSpecialVisitor(): void {
  if (/\?|\/cancel(#|$)|#external_token=/.test(location.href))
    document.documentElement.dataset['visitor'] = 'special';
}

function applyStored({ theme, authToken, language }: Storage, early: EarlyStart): void {
  applyChosenLanguage(language);
  if (theme === 'light' || theme === 'dark') showTheme(theme);
  // A trial link replaces the stored session.
  if (!authToken || early.trialToken) return;
  document.documentElement.dataset['visitor'] = 'returning';
  // A wrong clock costs a second here, nothing else.
  // oxlint-disable-next-line no-restricted-properties
  if (!tokenExpired(authToken, Date.now())) sendFirstCalls(early, authToken);
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

prepare();
