/** Shows a chosen theme in place of the system's: on the page, and in the bar of the browser. */
export function showTheme(theme: 'light' | 'dark'): void {
  document.documentElement.dataset['theme'] = theme;
  const metas = [...document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')];
  const own = metas.find(({ media }) => media.includes(theme));
  for (const meta of metas) meta.content = own?.dataset['color'] ?? '';
}
