import { brand } from '#contract/brand';
import { languages, pathIn, published } from '#contract/languages';
import { homes } from '#words/language';

export const offeredLanguages = /* @__PURE__ */ findOfferedLanguages();

function findOfferedLanguages() {
  return published.length > 1 ? languages.filter(({ tag }) => published.includes(tag)) : [];
}

/** Returns an absolute address. `path` has no language; `x-default` is English. */
export function addressIn(tag: string, path: string): string {
  return brand.siteUrl + pathIn(tag, path);
}

/** Returns the home page of a language; null for English and for a language that is not offered. */
export function chosenHome(tag: string | undefined): string | null {
  return homes.find(([language]) => language === tag)?.[1] ?? null;
}

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

/** Compares without the country: Portuguese of any country is closer than English. */
const baseOf = (tag: string) => tag.split('-')[0]?.toLowerCase();
