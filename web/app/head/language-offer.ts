import { isTranslated } from '#words/language';
import { chosenHome, preferredInstead } from '../language-addresses.ts';

/** Offers the browser's language, if the page is in another. */
export function offerLanguage(): void {
  const { lang, dataset } = document.documentElement;
  const other = isTranslated ? preferredInstead(lang, navigator.languages) : undefined;
  if (other) dataset['offer'] = other;
}

/** Who has chosen a language is offered none, and `/` opens in it: other addresses name theirs. */
export function applyChosenLanguage(language: string | undefined): void {
  if (language) delete document.documentElement.dataset['offer'];
  const home = isTranslated && location.pathname === '/' ? chosenHome(language) : null;
  if (home) location.replace(home + location.search + location.hash);
}

/** Works before the scripts have loaded. */
export function noteChosenLanguage(): void {
  if (!isTranslated) return;

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
