import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { runnerImport, type Connect, type Plugin, type ViteDevServer } from 'vite';
import { languages } from '#contract/languages';
import { notFoundHead, pageHead } from '../app/page-heads.ts';
import { rootId } from '../start/protocol.ts';
import type * as Documents from './document.tsx';
import { bundleScript } from './inline-scripts.ts';
import { livePolicy, manifest, pageHeaders } from './site-files.ts';

const serviceWorker = join(import.meta.dirname, '../app/service-worker.ts');

/** For what Vite and Fast Refresh add to a page. */
const nonce = randomBytes(16).toString('base64url');

/** Vite would reload a page whose mistake is mended. */
const overlayScript = `<script type="module">
  import { createHotContext } from '/@vite/client';
  createHotContext('/live-pages').on('vite:beforeUpdate', () => {
    if (!document.querySelector('#${rootId} > *')) return;
    document.querySelectorAll('vite-error-overlay').forEach((overlay) => overlay.close());
  });
</script>`;

/** An empty root, which the browser renders. */
export function livePages(connectTo: readonly string[], headScript: string): Plugin {
  return {
    name: 'live-pages',
    apply: 'serve',
    config: () => ({ appType: 'custom', html: { cspNonce: nonce } }),
    configureServer(server) {
      const parts = { headScript, document: loadDocument() };
      return () => {
        server.middlewares.use('/manifest.webmanifest', (_request, response) =>
          respond(response, 'application/manifest+json', manifest()),
        );

        server.middlewares.use('/sw.js', (_request, response, next) => {
          const script = bundleScript(serviceWorker, [], 'development');
          script.then((text) => respond(response, 'text/javascript', text), next);
        });

        server.middlewares.use((request, response, next) => {
          if (!isPage(request)) return next();
          const page = livePage(server, request.url ?? '/', parts);
          servePage(response, page, connectTo).then(undefined, next);
        });
      };
    },
  };
}

/** A path with an extension is a missing file. */
function isPage({ method, url = '' }: Connect.IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && !/\.\w+$/.test(pathOf(url));
}

type LiveParts = { headScript: string; document: ReturnType<typeof loadDocument> };
type Page = { html: string; isFound: boolean };

async function livePage(server: ViteDevServer, url: string, parts: LiveParts): Promise<Page> {
  const path = pathOf(url);
  const language = languages.find(({ path: start }) => start && `${path}/`.startsWith(`${start}/`));
  const { tag = 'en', path: start = '', direction = 'ltr' } = language ?? {};
  const own = path.slice(start.length) || '/';
  const { module } = await parts.document;
  const source = module.documentOf({
    path: own,
    language: { tag, direction },
    headScripts: [await bundleScript(parts.headScript)],
    styles: { href: '/theme/index.css' },
    app: { entry: '/main.tsx', modules: [], isLate: false, isHeld: false },
    body: `<div id="${rootId}"></div>${overlayScript}`,
  });
  const html = await server.transformIndexHtml('/index.html', source, url);
  return { html, isFound: pageHead(own) !== notFoundHead };
}

const documentFile = join(import.meta.dirname, 'document.tsx');

/** Node does not read JSX. */
const loadDocument = () =>
  runnerImport<typeof Documents>(documentFile, { configFile: false, logLevel: 'warn' });

async function servePage(
  response: ServerResponse,
  page: Promise<Page>,
  connectTo: readonly string[],
): Promise<void> {
  const { html, isFound } = await page;
  if (!isFound) response.statusCode = 404;
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
