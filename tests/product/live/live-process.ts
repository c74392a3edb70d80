import { execFile } from 'node:child_process';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrate } from '../../../drizzle/migrate.ts';
import { compileAll } from '../../../web/build/words/compile-all.ts';
import { messageOf } from '../machine.ts';
import { setUpStripe, startCronClock } from '../start-product.ts';
import { readVars } from '../vars.ts';
import { startLiveServices } from './live-services.ts';
import { startLiveWebsite } from './live-website.ts';
import { startLiveWorker } from './live-worker.ts';
import { tryWorker } from './trial.ts';
import type { Mistake } from './worker-log.ts';

export type LiveSettings = {
  port: number;
  sandboxPort: number;
  stateDir: string;
  varsFile: string;
};

const runFile = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const { port, sandboxPort, stateDir, varsFile } = JSON.parse(process.argv[2] ?? '') as LiveSettings;
const siteUrl = `http://localhost:${port}`;
const varsNow = () => readVars(varsFile);

const newSchema =
  'The schema has changed. Write its migration: npx drizzle-kit generate --config drizzle/config.ts --name what_it_is';

// What fails because its processes are ending, too, is no mistake.
process.once('SIGTERM', () => process.exit());

try {
  await start();
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}

async function start(): Promise<void> {
  for (const [language, faults] of compileAll()) console.error(`${language}: ${faults.join('\n')}`);
  const styles = runFile('npm', ['run', '--silent', 'build:styles'], { cwd: root });
  const services = await startLiveServices(root, () => ({
    port: sandboxPort,
    stateDir: join(stateDir, 'sandbox'),
    siteUrl,
    secrets: varsNow(),
  }));
  await migrateDatabase();
  await setUpStripe(varsNow());

  const worker = await startLiveWorker({
    root,
    stateDir,
    varsFile,
    report,
    changed,
  });
  await styles;
  const website = await startLiveWebsite({
    root,
    port,
    worker: (...call) => worker.handle(...call),
  });
  startCronClock(siteUrl);

  function changed(file: string): void {
    if (file === join(root, 'wrangler.toml') || file === varsFile) void restart(file);
    if (file === join(root, 'drizzle/schema.ts')) console.log(newSchema);
    if (file === join(root, 'drizzle/migrations/meta/_journal.json')) void migrateAgain();
  }

  function report(mistake: Mistake | null): void {
    if (mistake) console.error(`The Worker cannot run.\n${mistake.message}\n${mistake.stack}`);
    website.show(mistake);
  }

  async function restart(file: string): Promise<void> {
    const name = basename(file);
    try {
      varsNow();
      if (file !== varsFile)
        await tryWorker({
          root,
          stateDir,
          varsFile,
        });
      await services.restart();
      await worker.restart();
      console.log(`${name} has changed: the Worker has started again.`);
    } catch (error) {
      console.error(`The Worker runs as before, until ${name} is in order: ${messageOf(error)}`);
    }
  }
}

async function migrateDatabase(): Promise<void> {
  const { TURSO_DATABASE_URL, TURSO_AUTH_TOKEN } = varsNow();
  await migrate(TURSO_DATABASE_URL, TURSO_AUTH_TOKEN);
}

async function migrateAgain(): Promise<void> {
  try {
    await migrateDatabase();
    console.log('The database has the new schema.');
  } catch (error) {
    console.error(`The database was not migrated: ${messageOf(error)}`);
  }
}
