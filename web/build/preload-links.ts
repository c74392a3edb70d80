import type { Rolldown } from 'vite';
import { pageHead } from '../words/page-heads.ts';

/** Links that preload the scripts of a page's route together with those of the layout. */
export function preloadLinks(bundle: Rolldown.OutputBundle, path: string, html: string): string[] {
  const route = `/routes/${path === '/' ? 'index' : path.slice(1).replaceAll('/', '.')}.tsx?tsr-split=component`;
  // A shell is for returning users only, whose session needs the profile.
  const modules = pageHead(path).prerendering === 'shell' ? [route, '/data/me.ts'] : [route];
  const entries = modules.flatMap(
    (module) => chunksOf(bundle).find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(module))) ?? [],
  );
  const files = new Set(entries.flatMap((entry) => [entry.fileName, ...importsOf(entry, bundle)]));
  return [...files].filter((file) => !html.includes(`/${file}"`)).map(linkTo);
}

const linkTo = (fileName: string) => `<link rel="modulepreload" crossorigin href="/${fileName}" />`;

const chunksOf = (bundle: Rolldown.OutputBundle) => Object.values(bundle).filter((file) => file.type === 'chunk');

/** The files that a chunk imports, directly or not. */
function importsOf(chunk: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle, seen = new Set<string>()): string[] {
  for (const fileName of chunk.imports) {
    const imported = bundle[fileName];
    if (seen.has(fileName) || imported?.type !== 'chunk') continue;
    seen.add(fileName);
    importsOf(imported, bundle, seen);
  }
  return [...seen];
}
