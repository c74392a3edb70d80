/**
 * The languages of the site: the tag of the page, the name that its readers
 * use, the start of its addresses, and the direction of its script.
 */
export const languages = [
  { tag: 'en', name: 'English', path: '', direction: 'ltr' },
  { tag: 'es', name: 'Español', path: '/es', direction: 'ltr' },
  { tag: 'pt-BR', name: 'Português', path: '/pt-br', direction: 'ltr' },
] as const;

export type Language = (typeof languages)[number]['tag'];

/**
 * The languages in which the site is built. A language
 * whose words are not complete is not among them.
 */
export const published: readonly Language[] = ['en', 'es', 'pt-BR'];

/** The path of a page in a language; English, for a tag that no language has. */
export function pathIn(tag: string, path: string): string {
  return (languages.find((language) => language.tag === tag)?.path ?? '') + path;
}
