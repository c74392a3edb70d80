import type { Rolldown } from 'vite';

/** Links that preload the scripts of a page's route together with those of the layout. */
export function preloadLinks(bundle: Rolldown.OutputBundle, path: string, html: string): string[] {
  const route = `/routes/${path === '/' ? 'index' : path.slice(1).replaceAll('/', '.')}.tsx?tsr-split=component`;
  const entry = chunksOf(bundle).find(({ facadeModuleId }) => facadeModuleId?.endsWith(route));
  if (!entry) return [];
  return [entry.fileName, ...importsOf(entry, bundle)].filter((file) => !html.includes(`/${file}"`)).map(linkTo);
}

/** The script that fills the shell of a private page, and links to its imports. */
export function shellScript(bundle: Rolldown.OutputBundle): string[] {
  const entry = chunksOf(bundle).find(({ facadeModuleId }) => facadeModuleId?.endsWith('/app/fill-shell.ts'));
  if (!entry) throw new Error('The build has no app/fill-shell.ts');
  const script = `<script type="module" crossorigin src="/${entry.fileName}"></script>`;
  return [script, ...importsOf(entry, bundle).map(linkTo)];
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
