import { createServer } from 'vite';
import type { SandboxSettings } from '../../sandbox/setup.ts';
import { messageOf } from '../machine.ts';
import { watch } from './watch.ts';
import { oneAtATime } from './one-at-a-time.ts';

type Sandbox = typeof import('../../sandbox/start.ts');

/** Starts the local services, and again after each edit of theirs, on the same ports and state. */
export async function startLiveServices(root: string, settingsOf: () => SandboxSettings) {
  const vite = await createServer({
    configFile: false,
    root,
    appType: 'custom',
    logLevel: 'warn',
    cacheDir: '.wrangler/vite/services',
    optimizeDeps: { noDiscovery: true },
    server: { middlewareMode: true, ws: false, watch },
  });
  const load = async () => {
    vite.environments.ssr.moduleGraph.invalidateAll();
    return (await vite.ssrLoadModule('/tests/sandbox/start.ts')) as Sandbox;
  };
  let running = await (await load()).startSandbox(settingsOf());

  const restart = oneAtATime(async () => {
    // What cannot be loaded or read leaves the services as they are.
    const { startSandbox } = await load();
    const settings = settingsOf();
    await running.close();
    running = await startSandbox(settings);
  });

  vite.watcher.on('change', (file) => {
    const path = file.slice(root.length);
    if (!path.startsWith('/tests/sandbox/') || path.endsWith('.test.ts')) return;
    void restart().then(
      () => console.log(`${path.slice(1)} changed: the local services run again`),
      (error: unknown) => console.error(`The local services did not start: ${messageOf(error)}`),
    );
  });

  return { restart };
}
