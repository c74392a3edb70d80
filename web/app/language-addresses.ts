import { brand } from '#contract/brand';
import { languages, pathIn, published } from '#contract/languages';
import { homes } from '#words/language';

/** The languages in which every page can be read; one alone is not offered. */
export const offered = /* @__PURE__ */ offeredLanguages();

function offeredLanguages() {
  return published.length > 1 ? languages.filter(({ tag }) => published.includes(tag)) : [];
}

/** The address of a page, a path without the start of a language, in a language; `x-default` is English. */
export function addressIn(tag: string, path: string): string {
  return brand.siteUrl + pathIn(tag, path);
}

/** The home page in the language that somebody chose before; null for English, or for a language that is not offered. */
export function chosenHome(tag: string | undefined): string | null {
  return homes.find(([language]) => language === tag)?.[1] ?? null;
}

/** The offered language that the browser prefers to that of the page, by the tags in order of preference; undefined if none. */
export function preferredInstead(
  current: string,
  preferences: readonly string[],
): string | undefined {
  const tags = ['en', ...homes.map(([tag]) => tag)];
  const known = preferences.flatMap(
    (wanted) => tags.find((tag) => baseOf(tag) === baseOf(wanted)) ?? [],
  );
  return known[0] === current ? undefined : known[0];
}

/** Portuguese of any country is closer to a reader of Portuguese than English is. */
const baseOf = (tag: string) => tag.split('-')[0]?.toLowerCase();
