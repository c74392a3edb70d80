import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../drizzle/migrate.ts';
import { addresses, refreshVars } from '../product/vars.ts';
import { freePort } from '../product/machine.ts';
import type { SandboxSecrets } from '../sandbox/services.ts';
import { setUpStripe } from '../product/start-product.ts';
import { startSandbox } from '../sandbox/start.ts';

/** Where nothing listens: these tests start no Worker. */
const sitePort = 9;

/** Starts local services for one test file and returns matching settings; `isSetUp` sets them up as `npm run dev` does. */
export async function startTestServices({ isSetUp = true } = {}) {
  const stateDir = mkdtempSync(join(tmpdir(), 'solace-operations-'));
  const port = await freePort(0, 'SANDBOX_PORT');
  const vars = refreshVars(join(stateDir, 'vars'), addresses(sitePort, port));
  const secrets = vars as SandboxSecrets;
  const sandbox = await startSandbox({ port, stateDir, siteUrl: vars['SITE_URL']!, secrets });
  if (isSetUp) await setUp(vars);
  return {
    vars,
    url: sandbox.url,
    async close() {
      await sandbox.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

async function setUp(vars: Record<string, string>): Promise<void> {
  await migrate(vars['TURSO_DATABASE_URL']!, vars['TURSO_AUTH_TOKEN']!);
  await setUpStripe(vars);
}
