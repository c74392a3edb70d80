import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { memoize } from '../../worker/lib/memoize.ts';

const root = join(import.meta.dirname, '../../dist/web');
if (!existsSync(join(root, 'index.html'))) throw new Error('There is no build to look at: run `npm run build` first.');

const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** Compressed once each: the shared scripts belong to every page. */
const weigh = memoize((text: string) => brotliCompressSync(text).length / 1024, Infinity);

/** The built website, as it lies in `dist/web`; weights are KiB of brotli. */
export const site = {
  files: () => readdirSync(root, { recursive: true, encoding: 'utf8' }),
  htmlFiles: () => site.files().filter((file) => file.endsWith('.html')),
  /** The HTML of a path. */
  html: (path: string) => read(path === '/' ? 'index.html' : `${path.slice(1)}.html`),
  read,
  weigh,
  /** The scripts that a page loads by itself. */
  scripts: (path: string) => {
    const found = site.html(path).matchAll(/<(?:script|link)\b[^>]*?(?:src|href)="\/([^"]+\.js)"/g);
    return new Set([...found].map(([, file = '']) => file));
  },
  scriptWeight: (files: Iterable<string>) => [...files].reduce((sum, file) => sum + weigh(read(file)), 0),
  styles: (path: string) => [...site.html(path).matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, css = '']) => css),
  /** The visible words of a path: its body without tags. */
  text: (path: string) =>
    (site.html(path).split('<body>')[1] ?? '')
      .replaceAll(/<noscript>[\s\S]*?<\/noscript>/g, '')
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll('&#x27;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
      .trim(),
};
