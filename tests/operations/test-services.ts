import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../drizzle/migrate.ts';
import { addresses } from '../product/addresses.ts';
import { freePort } from '../product/free-port.ts';
import type { SandboxSecrets } from '../sandbox/settings.ts';
import { setUpStripe } from '../product/set-up-stripe.ts';
import { startSandbox } from '../sandbox/start.ts';
import { refreshVars } from '../product/vars.ts';

/** Starts local services for one test file, set up as by `npm run dev`, and returns matching settings. */
export async function startTestServices({ sitePort = 9, migrated = true } = {}) {
  const stateDir = mkdtempSync(join(tmpdir(), 'solace-operations-'));
  const port = await freePort(0, 'SANDBOX_PORT');
  const vars = refreshVars(join(stateDir, 'vars'), addresses(sitePort, port));
  const secrets = vars as SandboxSecrets;
  const sandbox = await startSandbox({ port, stateDir, siteUrl: vars['SITE_URL']!, secrets });
  if (migrated) await migrate(vars['TURSO_DATABASE_URL']!, secrets.TURSO_AUTH_TOKEN);
  await setUpStripe(vars);
  return {
    vars,
    url: sandbox.url,
    async close() {
      await sandbox.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}
