/** Also in the browser's own bar. */
export function showTheme(theme: 'light' | 'dark'): void {
  document.documentElement.dataset['theme'] = theme;
  const metas = [...document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')];
  const own = metas.find(({ media }) => media.includes(theme));
  for (const meta of metas) meta.content = own?.dataset['color'] ?? '';
}
