import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Connect, Plugin, ViteDevServer } from 'vite';
import { languages } from '#contract/languages';
import { notFoundHead, pageHead } from '../app/page-heads.ts';
import { headTags } from './head-tags.ts';
import { bundleScript } from './inline-scripts.ts';
import { livePolicy, manifest, pageHeaders } from './site-files.ts';

const serviceWorker = join(import.meta.dirname, '../app/service-worker.ts');

/** The inline scripts and styles that Vite and Fast Refresh add to a page carry it. */
const nonce = randomBytes(16).toString('base64url');

/** Vite reloads a page whose first edit is a mistake when it is mended; what the page shows can stay. */
const overlayScript = `<script type="module">
      import { createHotContext } from '/@vite/client';
      createHotContext('/live-pages').on('vite:beforeUpdate', () => {
        if (!document.querySelector('#root > *')) return;
        document.querySelectorAll('vite-error-overlay').forEach((overlay) => overlay.close());
      });
    </script>`;

/** Serves each page of each language in `npm run dev`: an empty root, which the browser renders. */
export function livePages(connectTo: readonly string[]): Plugin {
  return {
    name: 'live-pages',
    apply: 'serve',
    config: () => ({ appType: 'custom', html: { cspNonce: nonce } }),
    configureServer: (server) => () => {
      server.middlewares.use('/manifest.webmanifest', (_request, response) =>
        respond(response, 'application/manifest+json', manifest()),
      );
      server.middlewares.use('/sw.js', (_request, response, next) => {
        const script = bundleScript(serviceWorker, [], 'development');
        script.then((text) => respond(response, 'text/javascript', text), next);
      });
      server.middlewares.use((request, response, next) => {
        if (isPage(request)) servePage(server, request, response, connectTo).then(undefined, next);
        else next();
      });
    },
  };
}

/** A path with an extension is a file that does not exist. */
function isPage({ method, url = '' }: Connect.IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && !/\.\w+$/.test(pathOf(url));
}

async function servePage(
  server: ViteDevServer,
  request: IncomingMessage,
  response: ServerResponse,
  connectTo: readonly string[],
): Promise<void> {
  const { url = '/' } = request;
  const path = pathOf(url);
  const language = languages.find(({ path: start }) => start && `${path}/`.startsWith(`${start}/`));
  const { tag = 'en', path: start = '', direction = 'ltr' } = language ?? {};
  const own = path.slice(start.length) || '/';

  const source = readFileSync(join(server.config.root, 'index.html'), 'utf8')
    .replace('<html lang="en">', `<html lang="${tag}" dir="${direction}">`)
    // Preloaded fonts are files of a build.
    .replace(/<template id="fonts">[\s\S]*?<\/template>/, '')
    .replace('<!--head-->', () => headTags(own))
    .replace('<!--body-->', `<div id="root"></div>${overlayScript}`);
  const html = await server.transformIndexHtml('/index.html', source, url);

  if (pageHead(own) === notFoundHead) response.statusCode = 404;
  for (const [name, value] of Object.entries(pageHeaders)) response.setHeader(name, value);
  response.setHeader('Content-Security-Policy', livePolicy(nonce, connectTo));
  respond(response, 'text/html; charset=utf-8', html);
}

function respond(response: ServerResponse, type: string, body: string): void {
  response.setHeader('Content-Type', type);
  response.setHeader('Cache-Control', 'no-cache');
  response.end(body);
}

const pathOf = (url: string) => new URL(url, 'http://localhost').pathname;
