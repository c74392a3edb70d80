import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin, Rolldown } from 'vite';
import { basePath, locale } from '#words/language';
import { pathIn } from '#contract/languages';
import { offeredLanguages } from '../app/language-addresses.ts';
import { pageHead, pages } from '../app/page-heads.ts';
import { oldEngine } from '../start/old-engine.ts';
import { offlinePath } from '../start/protocol.ts';
import { bundleScript } from './inline-scripts.ts';
import type { LanguageOffer, PageParts, renderPage } from './render.tsx';
import {
  addedHeaders,
  manifest,
  redirects,
  robots,
  securityHeaders,
  sitemap,
} from './site-files.ts';
import { folderOf, sentencesOf } from './words/texts.ts';

type WritePagesOptions = {
  connectTo: readonly string[];
  scriptFolder: string;
  siteFolder: string;
  rendererFolder: string;
  /** The file keeps the stylesheet for the builds of other languages. */
  styles: { file: string; isBuiltHere: boolean };
  scripts: { head: string; pageScripts: Record<string, string> };
  scriptPlugins: Plugin[];
};

const serviceWorker = join(import.meta.dirname, '../app/service-worker.ts');

export function writePages(options: WritePagesOptions): Plugin {
  return {
    name: 'write-pages',
    apply: 'build',
    enforce: 'post',
    applyToEnvironment: ({ name }) => name === 'client',
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const folder = basePath && `${basePath.slice(1)}/`;
        const emit = (fileName: string, source: string) =>
          this.emitFile({ type: 'asset', fileName: folder + fileName, source });
        const site = await siteParts(bundle, options);
        const render = await loadRender(options.rendererFolder);
        for (const path of [...Object.keys(pages), '/404', offlinePath])
          emit(fileOf(path), await render(path, partsOf(path, site, bundle)));
        emit('manifest.webmanifest', manifest());
        await emitSiteFiles(site, bundle, options, emit);
      },
    },
  };
}

const fileOf = (path: string) => (path === '/' ? 'index.html' : `${path.slice(1)}.html`);

type SiteParts = { sheet: string; head: string; pageScripts: ReadonlyMap<string, string> };

async function siteParts(
  bundle: Rolldown.OutputBundle,
  options: WritePagesOptions,
): Promise<SiteParts> {
  const { scripts, scriptPlugins } = options;
  const pageScripts = Object.entries(scripts.pageScripts).map(
    async ([path, entry]) => [path, await bundleScript(entry, scriptPlugins)] as const,
  );
  return {
    sheet: await takeStylesheet(bundle, options.styles),
    head: await bundleScript(scripts.head),
    pageScripts: new Map(await Promise.all(pageScripts)),
  };
}

/** Takes the stylesheet out of the bundle, since each page has it inline. */
async function takeStylesheet(
  bundle: Rolldown.OutputBundle,
  { file: kept, isBuiltHere }: WritePagesOptions['styles'],
): Promise<string> {
  const made: string[] = [];
  for (const [fileName, file] of Object.entries(bundle)) {
    if (file.type !== 'asset' || !fileName.endsWith('.css')) continue;
    made.push(String(file.source).trim());
    delete bundle[fileName];
  }

  if (!isBuiltHere) return readFile(kept, 'utf8');

  const sheet = made.join('');
  await mkdir(dirname(kept), { recursive: true });
  await writeFile(kept, sheet);
  return sheet;
}

const fontFile = /\/assets\/[\w.-]+\.woff2/g;

function partsOf(path: string, site: SiteParts, bundle: Rolldown.OutputBundle): PageParts {
  const { sheet, head, pageScripts } = site;
  const own = pageScripts.get(path);
  return {
    headScripts: own === undefined ? [head] : [head, own],
    styles: { text: sheet },
    fonts: sheet.match(fontFile) ?? [],
    app: modulesOf(bundle, path),
    offers: languageOffers(path),
    lastScript: oldEngine,
  };
}

function languageOffers(path: string): LanguageOffer[] {
  const others = offeredLanguages.filter(({ tag }) => tag !== locale);
  return others.map(({ tag, name }) => {
    const words = sentencesOf(folderOf(tag));
    const text = words.get('layout.footer.offer') ?? '';
    const dismiss = words.get('layout.layout.dismiss') ?? '';
    return { tag, href: pathIn(tag, path), name, text, dismiss };
  });
}

type Emit = (fileName: string, source: string) => void;

async function emitSiteFiles(
  { sheet, head, pageScripts }: SiteParts,
  bundle: Rolldown.OutputBundle,
  { connectTo, scriptFolder, siteFolder, rendererFolder }: WritePagesOptions,
  emit: Emit,
): Promise<void> {
  const hashedFiles = Object.keys(bundle).filter((name) => name.startsWith('assets/'));
  const inline = { scripts: [head, oldEngine], styles: [sheet], pageScripts };
  const headers = { inline, connectTo, hashedFiles, scriptFolder };

  // `build-languages.ts` adds the rules of the others.
  if (basePath) {
    const english = await readFile(join(siteFolder, '_headers'), 'utf8');
    return writeFile(join(rendererFolder, '_headers'), addedHeaders(english, headers));
  }

  emit('sitemap.xml', sitemap());
  emit('robots.txt', robots());
  // Another text makes browsers keep the pages anew.
  emit('sw.js', `/* ${scriptFolder} */ ${await bundleScript(serviceWorker)}\n`);
  if (redirects()) emit('_redirects', redirects());
  emit('_headers', securityHeaders(headers));
}

async function loadRender(directory: string): Promise<typeof renderPage> {
  const renderer = await import(pathToFileURL(join(directory, 'render.js')).href);
  return renderer.renderPage;
}

function modulesOf(bundle: Rolldown.OutputBundle, path: string): PageParts['app'] {
  const entry = chunksOf(bundle).find(({ isEntry }) => isEntry);
  if (!entry) throw new Error('The build has no entry');

  const chunks = startModules(path).flatMap((module) => chunkWith(bundle, module) ?? []);
  const files = [
    ...importsOf(entry, bundle),
    ...chunks.flatMap((chunk) => [chunk.fileName, ...importsOf(chunk, bundle)]),
  ];

  const preloaded = new Set(files.filter((file) => file !== entry.fileName));
  return { entry: `/${entry.fileName}`, modules: [...preloaded].map((file) => `/${file}`) };
}

/** Returns the ends of the ids of the modules that a page needs beside the entry. */
function startModules(path: string): string[] {
  const page = path === '/' ? 'index' : path.slice(1).replaceAll('/', '.');
  const route = `/routes/${page}.tsx?tsr-split=component`;

  // A shell is for returning users, who need the profile.
  const isShell = pageHead(path).served === 'shell';
  return isShell ? [route, '/data/profile-query.ts'] : [route];
}

const chunksOf = (bundle: Rolldown.OutputBundle) =>
  Object.values(bundle).filter((file) => file.type === 'chunk');

const chunkWith = (bundle: Rolldown.OutputBundle, module: string) =>
  chunksOf(bundle).find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(module)));

function importsOf(
  chunk: Rolldown.OutputChunk,
  bundle: Rolldown.OutputBundle,
  seen = new Set<string>(),
): string[] {
  for (const fileName of chunk.imports) {
    const imported = bundle[fileName];
    if (seen.has(fileName) || imported?.type !== 'chunk') continue;
    seen.add(fileName);
    importsOf(imported, bundle, seen);
  }
  return [...seen];
}
