export const languages = [
  { tag: 'en', name: 'English', path: '', direction: 'ltr' },
  { tag: 'es', name: 'Español', path: '/es', direction: 'ltr' },
  { tag: 'pt-BR', name: 'Português', path: '/pt-br', direction: 'ltr' },
] as const;

export type Language = (typeof languages)[number]['tag'];

/** A language whose words are not complete is not built. */
export const published: readonly Language[] = ['en', 'es', 'pt-BR'];

export function pathIn(tag: string, path: string): string {
  return (languages.find((language) => language.tag === tag)?.path ?? '') + path;
}
