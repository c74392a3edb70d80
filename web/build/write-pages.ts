import { readFile, writeFile } from 'node:fs/promises';
import { basePath, isRightToLeft, locale } from '#words/language';
import type { Plugin, Rolldown } from 'vite';
import { headTags } from './head-tags.ts';
import { pathIn } from '#contract/languages';
import { offered } from '../app/language-addresses.ts';
import { pageHead, pages } from '../app/page-heads.ts';
import { folderOf, sentencesOf } from './words/texts.ts';
import { withOwnStyles } from './page-styles.ts';
import { bundleScript, shellPage, withoutSample, type ShellOptions } from './inline-scripts.ts';
import {
  addedHeaders,
  redirects,
  securityHeaders,
  manifest,
  robots,
  sitemap,
} from './site-files.ts';
import { footerWords, layoutWords, notFoundWords } from '#words/layout';
import { offlinePageWords } from '#words/notices';
import { siteWords } from '#words/page-heads';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ShownChat } from '../data/early-start.ts';
import type { ChatMessage } from '#contract/chat-schemas';
import { consentVersion } from '#contract/chat-limits';

const serviceWorker = join(import.meta.dirname, '../app/service-worker.ts');
const head = '<!--head-->';
const body = '<!--body-->';

type Options = ShellOptions & {
  connectTo: readonly string[];
  /** The folder of the scripts of this language, and where the site is written. */
  scriptFolder: string;
  siteIn: string;
  /** The output of the server build, which renders the pages. */
  rendererIn: string;
};

/** Writes one HTML file per page with its own head and text, and the files for browsers and search engines. */
export function writePages({
  connectTo,
  rendererIn,
  scriptFolder,
  siteIn,
  ...shellOptions
}: Options): Plugin {
  return {
    name: 'write-pages',
    apply: 'build',
    enforce: 'post',
    applyToEnvironment: ({ name }) => name === 'client',
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const html = htmlOf(bundle);
        const hashedFiles = Object.keys(bundle).filter((fileName) =>
          fileName.startsWith('assets/'),
        );
        const render = await loadRender(rendererIn);
        const folder = basePath && `${basePath.slice(1)}/`;
        const emit = (fileName: string, source: string) =>
          this.emitFile({ type: 'asset', fileName: folder + fileName, source });
        const pagesByPath: Record<string, string> = {};
        const write = async (fileName: string, path: string) => {
          const tags = [headTags(path), ...preloadLinks(bundle, path, html)].join('\n    ');
          const isOffline = path === offlinePath;
          const content = isOffline
            ? offlineBody(await pageBody('/404', render))
            : await pageBody(path, render);
          const offers = pageHead(path).isPublic ? languageOffers(path) : '';
          const filled = html.replace(head, () => tags).replace(body, () => offers + content);
          const isShell = pageHead(path).prerendering === 'shell';
          const page = withoutSample(
            withOwnStyles(isShell ? await shellPage(path, filled, shellOptions) : filled),
          );
          pagesByPath[path] = page;
          const served = isReadable(path) ? page : withoutFontPreloads(page);
          const deferred = isReadable(path) || isShell ? deferScripts(served) : served;
          const final = isOffline ? offlineHtml(deferred) : deferred;
          emit(fileName, compact(final));
        };
        delete bundle['index.html'];
        for (const path of Object.keys(pages)) await write(fileOf(path), path);
        await write('404.html', '/404');
        await write(fileOf(offlinePath), offlinePath);
        emit('manifest.webmanifest', manifest());
        const headers = { pages: pagesByPath, connectTo, hashedFiles, scriptFolder };
        // English is built first; `build-languages.ts` adds the rules of the others, which are built side by side.
        if (basePath)
          return writeHeaders(join(rendererIn, '_headers'), join(siteIn, '_headers'), headers);
        emit('sitemap.xml', sitemap());
        emit('robots.txt', robots());
        // Browsers keep the pages of each deployment anew, since the text of the worker differs.
        emit('sw.js', `/* ${scriptFolder} */ ${await bundleScript(serviceWorker)}\n`);
        if (redirects()) emit('_redirects', redirects());
        emit('_headers', securityHeaders(headers));
      },
    },
  };
}

/** Without what means nothing to browsers: the first packets carry the page. */
const compact = (html: string) =>
  html.replaceAll(/(<(?:link|meta)\b[^>]*?) \/>/g, '$1>').replaceAll(/>\n\s+</g, '><');

function htmlOf(bundle: Rolldown.OutputBundle): string {
  const file = bundle['index.html'];
  if (file?.type !== 'asset') throw new Error('The build has no index.html');
  // The attributes of the language; the source of the page is English.
  return (
    String(file.source)
      .replace('<html lang="en">', `<html lang="${locale}"${isRightToLeft ? ' dir="rtl"' : ''}>`)
      // Modules of the site itself are fetched in the same way without the attribute.
      .replaceAll(/(<(?:script type="module"|link rel="modulepreload")) crossorigin/g, '$1')
      .replace('href="/manifest.webmanifest"', `href="${basePath}/manifest.webmanifest"`)
  );
}

type Headers = Parameters<typeof addedHeaders>[1];

async function writeHeaders(file: string, english: string, headers: Headers): Promise<void> {
  await writeFile(file, addedHeaders(await readFile(english, 'utf8'), headers));
}

/** Prerendered pages keep what their scripts need in a template, which `head-script.ts` inserts after the first paint. */
function deferScripts(html: string): string {
  const scripts: string[] = [];
  const readable = html.replaceAll(
    /\s*(<link rel="(?:modulepreload|preload" as="style)"[^>]*>|<script type="module"[^>]*><\/script>)/g,
    (_, tag) => {
      // The app waits for the stylesheet.
      if (tag.includes('as="style"')) scripts.unshift(tag);
      else scripts.push(tag);
      return '';
    },
  );
  return readable.replace(
    '</head>',
    () => `  <template id="after-paint">${scripts.join('')}</template>\n  </head>`,
  );
}

/** A private page shows its content after its scripts, so fonts must not delay them. */
function withoutFontPreloads(html: string): string {
  return html.replace(/\s*<template id="fonts">[\s\S]*?<\/template>/, '');
}

const fileOf = (path: string) => (path === '/' ? 'index.html' : `${path.slice(1)}.html`);

const withoutScript = `<div class="page"><p>${layoutWords.needsScriptForAccount}</p><p><a class="link" href="${basePath}/help-now">${footerWords.help}</a></p></div>`;
// The root fills the screen, so the text for visitors without JavaScript precedes it.
const noScript = `<noscript>${withoutScript}</noscript>`;

const emptyBody = `${noScript}\n    <div id="root"></div>`;

/** The other languages of a page, each offered in its own words; the page shows the one that the browser prefers. */
function languageOffers(path: string): string {
  const others = offered.filter(({ tag }) => tag !== locale);
  const offers = others.map(({ tag, name }) => {
    const words = sentencesOf(folderOf(tag));
    const link = `<a href="${pathIn(tag, path)}" hreflang="${tag}">${name}</a>`;
    const refusal = `<button type="button" aria-label="${words.get('layout.layout.dismiss')}">×</button>`;
    return `<aside class="offer" lang="${tag}">${words.get('layout.footer.offer')} ${link}${refusal}</aside>\n    `;
  });
  return offers.join('');
}

function isReadable(path: string): boolean {
  const { prerendering } = pageHead(path);
  return prerendering === 'page' || prerendering === 'guest-page';
}

async function pageBody(path: string, render: Render): Promise<string> {
  const { prerendering } = pageHead(path);
  if (prerendering === 'none') return emptyBody;
  const { routeId, markup } = await render(path);
  const root = `<div id="root" data-prerendered="${prerendering}" data-route="${routeId}">${markup}</div>`;
  if (isReadable(path)) return root;
  return [noScript, root, ...(path === '/chat' ? [await filledFrame(path, render)] : [])].join(
    '\n    ',
  );
}

/** The page that the service worker shows without a connection, whatever the address. */
const offlinePath = '/offline';

/** The page for an unknown path with other words: crisis lines, and a link to the address itself. */
function offlineBody(notFound: string): string {
  const { title, text, help, again } = offlinePageWords;
  const main = /(<h1[^>]*>)[^<]*(<\/h1><p[^>]*>)[^<]*(<\/p>)(<a[^>]*)href="[^"]*">[^<]*(<\/a>)/;
  if (!main.test(notFound)) throw new Error('The page for an unknown path has another form');
  return notFound.replace(main, (_, heading, paragraph, end, link, close) =>
    [
      `${heading}${title}${paragraph}${text}${end}`,
      `${link}href="${basePath}/help-now">${help}${close}`,
      `${link.replace('button--look_primary', 'button--look_soft')}href="">${again}${close}`,
    ].join(''),
  );
}

/** Without the app, which would start at the address that cannot be loaded. */
function offlineHtml(html: string): string {
  return html
    .replaceAll(/<link rel="modulepreload"[^>]*>|<script type="module"[^>]*><\/script>/g, '')
    .replace(siteWords.titleOnSite(notFoundWords.title), () =>
      siteWords.titleOnSite(offlinePageWords.title),
    );
}

/** The main part of the chat with a conversation, in which `fill-chat.tsx` puts the messages of the user. */
async function filledFrame(path: string, render: Render): Promise<string> {
  const { markup } = await render(path, sampleChat);
  const main = /<main\b[^>]*>([\s\S]*)<\/main>/.exec(markup)?.[1];
  if (main === undefined) throw new Error(`${path} has no main part`);
  return `<template id="filled">${main}</template>`;
}

export type Rendered = { routeId: string; markup: string };
export type Render = (path: string, shownChat?: ShownChat) => Promise<Rendered>;

async function loadRender(directory: string): Promise<Render> {
  const { render } = await import(pathToFileURL(join(directory, 'render.js')).href);
  return render;
}

/** Links that preload the scripts of a page's route together with those of the layout. */
function preloadLinks(bundle: Rolldown.OutputBundle, path: string, html: string): string[] {
  const route = `/routes/${path === '/' ? 'index' : path.slice(1).replaceAll('/', '.')}.tsx?tsr-split=component`;
  // A shell is for returning users only, whose session needs the profile.
  const modules =
    pageHead(path).prerendering === 'shell' ? [route, '/data/profile-query.ts'] : [route];
  const entries = modules.flatMap(
    (module) =>
      chunksOf(bundle).find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(module))) ?? [],
  );
  const files = new Set(entries.flatMap((entry) => [entry.fileName, ...importsOf(entry, bundle)]));
  return [...files].filter((file) => !html.includes(`/${file}"`)).map(linkTo);
}

const linkTo = (fileName: string) => `<link rel="modulepreload" href="/${fileName}" />`;

const chunksOf = (bundle: Rolldown.OutputBundle) =>
  Object.values(bundle).filter((file) => file.type === 'chunk');

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

const at = '2025-01-01T00:00:00.000Z';
const message = (seq: number, more: Partial<ChatMessage>): ChatMessage => ({
  id: String(seq),
  seq,
  author: 'user',
  text: '',
  at,
  state: 'delivered',
  ...more,
});

/** The conversation in the served frame of the chat: one message of each look, so that the page has all styles. */
const sampleChat: ShownChat = {
  token: '',
  page: {
    success: true,
    revision: 0,
    messages: [
      message(1, { state: 'failed' }),
      message(2, {
        author: 'solace',
        text: 'https://a.example',
        crisis: true,
        voice: { seconds: 1, type: '', bytes: 0 },
      }),
    ],
    hasMore: true,
    typingUntil: null,
    consent: { version: consentVersion, at },
  },
  openedAt: Date.parse(at),
  isAtEnd: true,
};
