/** The languages of the site: the tag of the page, the name that its readers use, and the start of its addresses. */
export const languages = [
  { tag: 'en', name: 'English', path: '' },
  { tag: 'es', name: 'Español', path: '/es' },
  { tag: 'pt-BR', name: 'Português', path: '/pt-br' },
] as const;

export type Language = (typeof languages)[number]['tag'];

/** The languages in which the site is built. A language whose words are not complete is not among them. */
export const published: readonly Language[] = ['en', 'es', 'pt-BR'];

/** The first of our languages that an `Accept-Language` names; English for any other. */
export function preferredLanguage(header: string | null): Language {
  const wanted = (header ?? '').split(',').map((range) => range.split(/[;-]/)[0]!.trim().toLowerCase());
  const offered = wanted.map((base) => published.find((tag) => tag.split('-')[0] === base));
  return offered.find(Boolean) ?? 'en';
}
