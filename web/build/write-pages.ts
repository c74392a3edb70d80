import type { Plugin, Rolldown } from 'vite';
import { loadRender } from './load-render.ts';
import { emptyBody, isReadable, pageBody } from './page-body.ts';
import { headTags } from './head-tags.ts';
import { pageHead, pages } from '../words/page-heads.ts';
import { withOwnStyles } from './page-styles.ts';
import { preloadLinks } from './preload-links.ts';
import { shellPage, withoutSample, type ShellOptions } from './shell-page.ts';
import { securityHeaders } from './security-headers.ts';
import { manifest, robots, sitemap } from './site-files.ts';

const head = '<!--head-->';
const body = '<!--body-->';

type Options = ShellOptions & {
  connectTo: readonly string[];
  /** The output of the server build, which renders the pages. */
  rendererIn: string;
};

/** Writes one HTML file per page with its own head and text, and the files for browsers and search engines. */
export function writePages({ connectTo, rendererIn, ...shellOptions }: Options): Plugin {
  return {
    name: 'write-pages',
    enforce: 'post',
    applyToEnvironment: ({ name }) => name === 'client',
    transformIndexHtml: {
      order: 'pre',
      handler: (html, { server }) => (server ? html.replace(head, headTags('/')).replace(body, emptyBody) : html),
    },
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const html = htmlOf(bundle);
        const hashedFiles = Object.keys(bundle).filter((fileName) => fileName.startsWith('assets/'));
        const render = await loadRender(rendererIn);
        const emit = (fileName: string, source: string) => this.emitFile({ type: 'asset', fileName, source });
        const pagesByPath: Record<string, string> = {};
        const write = async (fileName: string, path: string) => {
          const tags = [headTags(path), ...preloadLinks(bundle, path, html)].join('\n    ');
          const content = await pageBody(path, render);
          const filled = html.replace(head, () => tags).replace(body, () => content);
          const isShell = pageHead(path).prerendering === 'shell';
          const page = withoutSample(withOwnStyles(isShell ? await shellPage(path, filled, shellOptions) : filled));
          pagesByPath[path] = page;
          const served = isReadable(path) ? page : withoutFontPreloads(page);
          emit(fileName, isReadable(path) || isShell ? deferScripts(served) : served);
        };
        delete bundle['index.html'];
        for (const path of Object.keys(pages)) await write(fileOf(path), path);
        await write('404.html', '/404');
        emit('sitemap.xml', sitemap());
        emit('robots.txt', robots());
        emit('manifest.webmanifest', manifest());
        emit('_headers', securityHeaders({ pages: pagesByPath, connectTo, hashedFiles }));
      },
    },
  };
}

function htmlOf(bundle: Rolldown.OutputBundle): string {
  const file = bundle['index.html'];
  if (file?.type !== 'asset') throw new Error('The build has no index.html');
  return String(file.source);
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
  return readable.replace('</head>', () => `  <template id="after-paint">${scripts.join('')}</template>\n  </head>`);
}

/** A private page shows its content after its scripts, so fonts must not delay them. */
function withoutFontPreloads(html: string): string {
  return html.replace(/\s*<template id="fonts">[\s\S]*?<\/template>/, '');
}

const fileOf = (path: string) => (path === '/' ? 'index.html' : `${path.slice(1)}.html`);
