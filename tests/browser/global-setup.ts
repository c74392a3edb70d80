import { fileURLToPath } from 'node:url';
import { freePort } from '../sandbox/free-port.ts';
import { startProduct } from '../sandbox/product.ts';

const stateDir = fileURLToPath(new URL('../../.wrangler/test-browser/state', import.meta.url));

/** The product with its local services, as `npm run dev` starts them, on ports of its own. */
export default async function setup(): Promise<() => Promise<void>> {
  const product = await startProduct({
    port: await freePort(0, 'PORT'),
    sandboxPort: await freePort(0, 'SANDBOX_PORT'),
    stateDir,
    varsFile: `${stateDir}.vars`,
    reset: true,
    build: false,
  });
  process.env.SITE_URL = product.siteUrl;
  process.env.SANDBOX_URL = product.sandboxUrl;
  return product.close;
}
