import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseEnv } from 'node:util';
import { cloudflare } from '@cloudflare/vite-plugin';
import { createServer, type Connect, type Plugin } from 'vite';
import { writeBuiltConfig } from '../worker-process.ts';
import { watch } from './watch.ts';
import { workerLogger, type Mistake } from './worker-log.ts';

type Settings = {
  root: string;
  stateDir: string;
  varsFile: string;
  /** Receives what keeps the edited Worker from loading, and null when it loads again. */
  report: (mistake: Mistake | null) => void;
  /** Is told of every file below the root that comes, changes or goes. */
  changed: (file: string) => void;
  cacheDir?: string;
};

const usualCache = '.wrangler/vite/worker';

/**
 * Runs the Worker inside workerd, and its edited modules from the next request on. `handle` responds to what is the
 * Worker's, and passes everything else on.
 */
export async function startLiveWorker(settings: Settings) {
  const { root, stateDir, varsFile, report, changed, cacheDir = usualCache } = settings;
  const returnTo = new WeakMap<IncomingMessage, Connect.NextFunction>();
  const handBack: Plugin = {
    name: 'hand-back',
    configureServer({ middlewares, watcher }) {
      // Here, since each restart has a watcher of its own.
      watcher.on('all', (_event, file) => changed(file));
      middlewares.use((request, _response, _next) => returnTo.get(request)?.());
      // The log has said why.
      middlewares.use(((error, _request, response, _next) => {
        response.statusCode = 500;
        response.end(String(error));
      }) satisfies Connect.ErrorHandleFunction);
    },
  };

  // Nothing is built, so nothing is minified.
  const writeConfig = () => writeBuiltConfig(root, stateDir, { minify: undefined });
  const vite = await createServer({
    configFile: false,
    root,
    appType: 'custom',
    customLogger: workerLogger(report),
    cacheDir,
    server: { middlewareMode: true, ws: false, cors: false, watch },
    plugins: [
      cloudflare({
        configPath: await writeConfig(),
        config: () => ({
          vars: parseEnv(readFileSync(varsFile, 'utf8')) as Record<string, string>,
        }),
        persistState: { path: stateDir },
      }),
      handBack,
    ],
  });

  return {
    handle(request: IncomingMessage, response: ServerResponse, next: Connect.NextFunction): void {
      returnTo.set(request, next);
      vite.middlewares(request, response, next);
    },
    /** Starts workerd again with the present `wrangler.toml` and settings. */
    async restart(): Promise<void> {
      await writeConfig();
      await vite.restart();
    },
    close: () => vite.close(),
  };
}
