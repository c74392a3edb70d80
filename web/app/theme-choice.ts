import { documentMarks, marksOf } from '../start/protocol.ts';

/** Shows the page and the browser's address bar in a chosen theme. */
export function showTheme(theme: 'light' | 'dark'): void {
  documentMarks().theme = theme;
  const metas = [...document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')];
  const own = metas.find(({ media }) => media.includes(theme));
  for (const meta of metas) meta.content = (own && marksOf(own).color) ?? '';
}
