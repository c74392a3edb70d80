import { pages } from '../head/pages.ts';
import type { Render } from './renderer.ts';

const needsScript = 'Please turn on JavaScript to log in and to manage your account.';

/** The body of a private page, which is empty until somebody is known. */
export const emptyShell = `<div id="root"></div>\n    <noscript><p>${needsScript}</p></noscript>`;

/** Whether a page can be read as it is served: each public one, and the lost one. */
export const isRendered = (path: string): boolean => pages[path]?.isPublic !== false;

/** The body of a page. */
export async function shell(path: string, render: Render): Promise<string> {
  if (!isRendered(path)) return emptyShell;
  const { page, markup } = await render(path);
  const strangers = path === '/login' ? ' data-strangers' : '';
  return `<div id="root" data-page="${page}"${strangers}>${markup}</div>`;
}
