import type { Rolldown } from 'vite';

/** Links that fetch the scripts of a page's route along with those of the frame. */
export function preloads(bundle: Rolldown.OutputBundle, path: string, html: string): string[] {
  const route = `/routes/${path === '/' ? 'index' : path.slice(1).replaceAll('/', '.')}.tsx?tsr-split=component`;
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const entry = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(route));
  const needed = entry ? withImports(entry.fileName, chunks) : new Set<string>();
  return [...needed]
    .filter((fileName) => !html.includes(`/${fileName}"`))
    .map((fileName) => `<link rel="modulepreload" crossorigin href="/${fileName}" />`);
}

function withImports(fileName: string, chunks: Rolldown.OutputChunk[], seen = new Set<string>()): Set<string> {
  if (seen.has(fileName)) return seen;
  seen.add(fileName);
  const chunk = chunks.find((candidate) => candidate.fileName === fileName);
  for (const imported of chunk?.imports ?? []) withImports(imported, chunks, seen);
  return seen;
}
