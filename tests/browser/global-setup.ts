import { execFileSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pseudoLanguage } from '../../web/build/words/pseudo-language.ts';
import { startProduct } from '../product/start-product.ts';

/** Beside the traces of failures. */
const logFolder = fileURLToPath(new URL('../../.wrangler/test-browser/results', import.meta.url));
/** One per run, so that concurrent runs do not collide. */
const stateDir = fileURLToPath(
  new URL(`../../.wrangler/test-browser/${process.pid}`, import.meta.url),
);

/** The product with its local services, as `npm run dev` starts them, on its own ports. */
export default async function setup(): Promise<() => Promise<void>> {
  // A build of the site empties its folder. `npm test` has added the pseudo-language already.
  if (!existsSync(`dist/web${pseudoLanguage.path}`))
    execFileSync('npm', ['run', '--silent', 'build:pseudo']);
  mkdirSync(logFolder, { recursive: true });
  const log = createWriteStream(`${logFolder}/worker.log`);
  const write = (line: string) => log.write(`${line}\n`);
  const product = await startProduct({
    stateDir,
    build: false,
    log: write,
    logRequests: true,
  });
  process.env.SITE_URL = product.siteUrl;
  process.env.SANDBOX_URL = product.sandboxUrl;
  return async () => {
    await product.close();
    log.end();
    rmSync(stateDir, { recursive: true, force: true });
  };
}
