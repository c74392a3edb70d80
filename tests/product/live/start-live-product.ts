import { fileURLToPath } from 'node:url';
import { waitUntilReady } from '../machine.ts';
import { aborted, prepare, type ProductSettings } from '../start-product.ts';
import { startGroup } from '../worker-process.ts';
import type { LiveSettings } from './live-process.ts';

const program = fileURLToPath(new URL('live-process.ts', import.meta.url));

/** Starts the product from its sources, in a process group of its own; resolves when every part responds. */
export async function startLiveProduct(settings: ProductSettings) {
  const { port, sandboxPort, stateDir, varsFile, siteUrl } = await prepare(settings);
  const { log = () => {} } = settings;
  const live: LiveSettings = {
    port,
    sandboxPort,
    stateDir,
    varsFile,
  };
  const { child, exit } = startGroup([program, JSON.stringify(live)], {
    stateDir,
    varsFile,
    log,
  });
  const close = async () => {
    if (child.connected) child.disconnect();
    await exit;
  };
  await using starting = new AsyncDisposableStack();
  starting.defer(close);

  const sandboxUrl = `http://localhost:${sandboxPort}`;
  const reason = exit.then(() => 'Solace has ended; the lines above say why.');
  const ended = Promise.race([reason, aborted(settings.signal)]);
  await waitUntilReady([sandboxUrl, `${siteUrl}/api/health`, siteUrl], ended);
  starting.move();
  return { siteUrl, sandboxUrl, ended, close };
}
