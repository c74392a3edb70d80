import type { Plugin, Rolldown } from 'vite';
import { headTags } from './head-tags.ts';
import { pages } from './pages.ts';
import { preloads } from './preloads.ts';
import { securityHeaders } from './security-headers.ts';
import { manifest, robots, sitemap } from './site-files.ts';

const marker = '<!--head-->';

/** Writes one HTML file per page, each with its own head, and the files that browsers and search engines ask for. */
export function siteHead({ connectTo }: { connectTo: readonly string[] }): Plugin {
  return {
    name: 'site-head',
    enforce: 'post',
    transformIndexHtml: {
      order: 'pre',
      handler: (html, { server }) => (server ? html.replace(marker, headTags('/')) : html),
    },
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const html = htmlOf(bundle);
        const emit = (fileName: string, source: string) => this.emitFile({ type: 'asset', fileName, source });
        const page = (path: string) =>
          html.replace(marker, () => [headTags(path), ...preloads(bundle, path, html)].join('\n    '));
        delete bundle['index.html'];
        for (const path of Object.keys(pages)) emit(fileOf(path), page(path));
        emit('404.html', page('/404'));
        emit('sitemap.xml', sitemap());
        emit('robots.txt', robots());
        emit('manifest.webmanifest', manifest());
        emit('_headers', securityHeaders({ html, connectTo }));
      },
    },
  };
}

function htmlOf(bundle: Rolldown.OutputBundle): string {
  const file = bundle['index.html'];
  if (file?.type !== 'asset') throw new Error('The build has no index.html');
  return String(file.source);
}

const fileOf = (path: string) => (path === '/' ? 'index.html' : `${path.slice(1)}.html`);
