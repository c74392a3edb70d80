import { mkdtempSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@libsql/client/web';
import { migrate } from '../../drizzle/migrate.ts';
import { addresses, refreshVars } from '../product/vars.ts';
import { freePort } from '../product/machine.ts';
import { setUpStripe } from '../product/start-product.ts';
import { listen, startSandbox } from '../sandbox/start.ts';

/** Where nothing listens: these tests start no Worker. */
const sitePort = 9;

type Options = { isSetUp?: boolean; settings?: Record<string, string> };

/** Starts local services and returns matching settings, besides those given; `isSetUp` sets them up as `npm run dev` does. */
export async function startTestServices({ isSetUp = true, settings = {} }: Options = {}) {
  const stateDir = mkdtempSync(join(tmpdir(), 'solace-operations-'));
  const port = await freePort(0, 'SANDBOX_PORT');
  const vars = refreshVars(join(stateDir, 'vars'), { ...addresses(sitePort, port), ...settings });
  const { SITE_URL: siteUrl, TURSO_DATABASE_URL: url, TURSO_AUTH_TOKEN: authToken } = vars;
  const sandbox = await startSandbox({ port, stateDir, siteUrl, secrets: vars });
  if (isSetUp) {
    await migrate(url, authToken);
    await setUpStripe(vars);
  }
  const database = createClient({ url, authToken });
  return {
    vars,
    url: sandbox.url,
    database,
    async close() {
      database.close();
      await sandbox.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

/** Starts a server of the test's own on a free port. */
export async function serve(listener: (...args: Parameters<RequestListener>) => unknown) {
  const server = await listen(0);
  server.serve((request, response) => void listener(request, response));
  return { url: `http://127.0.0.1:${server.port}`, close: () => server.close() };
}
