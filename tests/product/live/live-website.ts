import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type Connect, type DevEnvironment } from 'vite';
import { watch } from './watch.ts';
import type { Mistake } from './worker-log.ts';

type Settings = {
  root: string;
  port: number;
  worker: Connect.NextHandleFunction;
};

/** Serves the website from its sources on a port, with the Worker before it. */
export async function startLiveWebsite({ root, port, worker }: Settings) {
  const loaded = Promise.withResolvers<void>();
  /** The first page need not wait for its modules. */
  const passOn = async (next: Connect.NextFunction) => {
    await loaded.promise;
    next();
  };
  const vite = await createServer({
    configFile: join(root, 'vite.config.ts'),
    configLoader: 'native',
    logLevel: 'warn',
    clearScreen: false,
    cacheDir: join(root, '.wrangler/vite/website'),
    server: {
      port,
      strictPort: true,
      cors: false,
      watch,
      fs: { allow: [root, realpathSync(join(root, 'node_modules'))] },
    },
    plugins: [
      {
        name: 'worker-first',
        configureServer({ middlewares }) {
          middlewares.use(worker);
          middlewares.use((_request, _response, next) => void passOn(next));
        },
      },
    ],
  });
  await vite.listen();
  loaded.resolve(loadEverything(vite.environments.client));
  await loaded.promise;

  let present: Mistake | null = null;
  const error = (err: Mistake) => ({ type: 'error' as const, err });
  vite.ws.on('vite:client:connect', (_, client) => present && client.send(error(present)));
  return {
    /** Shows a mistake in every open page, or removes it. */
    show(mistake: Mistake | null): void {
      if (mistake) vite.ws.send(error(mistake));
      else if (present) vite.ws.send({ type: 'update', updates: [] });
      present = mistake;
    },
  };
}

/** Transforms every module of the website, and finds every package that it needs. */
async function loadEverything(client: DevEnvironment): Promise<void> {
  const known = new Set<string>();
  async function load(url: string): Promise<void> {
    if (known.has(url)) return;
    known.add(url);
    // A mistake is shown to whoever opens the page.
    await client.transformRequest(url).catch(() => null);
    const module = await client.moduleGraph.getModuleByUrl(url);
    await Promise.all([...(module?.importedModules ?? [])].map((imported) => load(imported.url)));
  }
  // The stylesheet names the files of the theme as its imports.
  await Promise.all([
    load('/main.tsx'),
    client.transformRequest('/theme/index.css?direct').catch(() => null),
  ]);
}
