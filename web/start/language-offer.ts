import { isTranslated } from '#words/language';
import { chosenHome, preferredInstead } from '../app/language-addresses.ts';
import { documentMarks, languageKey, offerClass } from './protocol.ts';

/** Offers the browser's language, if the page is in another. */
export function offerLanguage(): void {
  if (!isTranslated) return;

  const { lang } = document.documentElement;
  const other = preferredInstead(lang, navigator.languages);
  if (other) documentMarks().offer = other;
}

/** Offers no language to people who have chosen one, and opens `/` in theirs. Other addresses name a language. */
export function applyChosenLanguage(language: string | undefined): void {
  if (language) delete documentMarks().offer;
  const home = isTranslated && location.pathname === '/' ? chosenHome(language) : null;
  if (home) location.replace(home + location.search + location.hash);
}

/** Remembers a choice, also before the scripts have loaded. */
export function noteChosenLanguage(): void {
  if (!isTranslated) return;

  addEventListener('click', ({ target }) => {
    const choice =
      target instanceof Element &&
      target.closest<HTMLAnchorElement>(`a[hreflang], .${offerClass} button`);
    if (!choice) return;

    delete documentMarks().offer;
    if (choice.hreflang) choice.search = location.search;
    try {
      localStorage[languageKey] = choice.hreflang ?? document.documentElement.lang;
    } catch {
      // Blocked storage has no memory.
    }
  });
}
