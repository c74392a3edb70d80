import { fileURLToPath } from 'node:url';
import { proxyHint } from '../../worker/operations/failure-text.ts';
import { messageOf, requireDiskSpace, stopSignal } from './machine.ts';
import type { ProductSettings } from './start-product.ts';

type Product = {
  siteUrl: string;
  sandboxUrl: string;
  ended: Promise<string>;
  close: () => Promise<void>;
};

/** Runs the product for `npm run dev` or `preview` until it is stopped or ends, and then ends this process. */
export async function runCommand(
  script: 'dev' | 'preview',
  start: (settings: ProductSettings) => Promise<Product>,
): Promise<never> {
  process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
  const stop = stopSignal(script);
  try {
    requireDiskSpace('.');
    refuseProxy();
    console.log('Building and starting Solace…');
    const product = await start({
      port: portOf('PORT', 8787),
      sandboxPort: portOf('SANDBOX_PORT', 8788),
      stateDir: '.wrangler/state',
      varsFile: '.dev.vars',
      reset: isReset(process.argv, process.env),
      signal: stop,
      log: console.log,
    });
    console.log(`Ready on ${product.siteUrl}\nPhones, bot and billing on ${product.sandboxUrl}`);
    const reason = await product.ended;
    await product.close();
    throw new Error(reason);
  } catch (error) {
    if (!stop.aborted) console.error(messageOf(error));
    process.exit(stop.aborted ? 0 : 1);
  }
}

/** npm takes `--reset` for itself if no `--` stands before it, and says so in the environment. */
export const isReset = (args: string[], env: NodeJS.ProcessEnv): boolean =>
  args.includes('--reset') || env['npm_config_reset'] === 'true';

/** Node's own calls go to the proxy if it is told so as it starts; then nothing here can be reached. */
function refuseProxy(): void {
  const hint = proxyHint(process.env);
  if (!hint) return;
  if (process.env['NODE_USE_ENV_PROXY']) throw new Error(hint);
  console.error(hint);
}

function portOf(name: string, fallback: number): number {
  const port = Number(process.env[name] ?? fallback);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`${name} must be a port number, not "${process.env[name]}".`);
}
