import type { Plugin, Rolldown } from 'vite';
import { loadRender } from '../prerender/renderer.ts';
import { emptyShell, isRendered, shell } from '../prerender/shell.ts';
import { headTags } from './head-tags.ts';
import { pages } from './pages.ts';
import { preloads } from './preloads.ts';
import { securityHeaders } from './security-headers.ts';
import { manifest, robots, sitemap } from './site-files.ts';

const head = '<!--head-->';
const body = '<!--body-->';

type Options = {
  connectTo: readonly string[];
  /** Where the build for the server has left what renders the pages. */
  rendererIn: string;
};

/** Writes one HTML file per page, each with its own head and text, and the files that browsers and search engines ask for. */
export function siteHead({ connectTo, rendererIn }: Options): Plugin {
  return {
    name: 'site-head',
    enforce: 'post',
    applyToEnvironment: ({ name }) => name === 'client',
    transformIndexHtml: {
      order: 'pre',
      handler: (html, { server }) => (server ? html.replace(head, headTags('/')).replace(body, emptyShell) : html),
    },
    generateBundle: {
      order: 'post',
      async handler(_options, bundle) {
        const html = htmlOf(bundle);
        const parts = Object.keys(bundle).filter((fileName) => fileName.startsWith('assets/'));
        const render = await loadRender(rendererIn);
        const emit = (fileName: string, source: string) => this.emitFile({ type: 'asset', fileName, source });
        const write = async (fileName: string, path: string) => {
          const tags = [headTags(path), ...preloads(bundle, path, html)].join('\n    ');
          const content = await shell(path, render);
          const page = html.replace(head, () => tags).replace(body, () => content);
          emit(fileName, isRendered(path) ? afterTheText(page) : page);
        };
        delete bundle['index.html'];
        for (const path of Object.keys(pages)) await write(fileOf(path), path);
        await write('404.html', '/404');
        emit('sitemap.xml', sitemap());
        emit('robots.txt', robots());
        emit('manifest.webmanifest', manifest());
        emit('_headers', securityHeaders({ html, connectTo, parts }));
      },
    },
  };
}

function htmlOf(bundle: Rolldown.OutputBundle): string {
  const file = bundle['index.html'];
  if (file?.type !== 'asset') throw new Error('The build has no index.html');
  return String(file.source);
}

/** Where there is something to read, its scripts lie in a template, which the page's own script opens after the first paint. */
function afterTheText(html: string): string {
  const scripts: string[] = [];
  const text = html.replaceAll(
    /\s*(<link rel="modulepreload"[^>]*>|<script type="module"[^>]*><\/script>)/g,
    (_, tag) => {
      scripts.push(tag);
      return '';
    },
  );
  return text.replace('</head>', () => `  <template id="after-paint">${scripts.join('')}</template>\n  </head>`);
}

const fileOf = (path: string) => (path === '/' ? 'index.html' : `${path.slice(1)}.html`);
