import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient } from '@libsql/client/web';
import { migrate } from '../../drizzle/migrate.ts';
import { addresses, readVars, refreshVars } from './vars.ts';
import { freePort, waitUntilReady } from './machine.ts';
import { lockState, requireOtherAddress, requireOwnVersion } from './state-folder.ts';
import { startSandbox } from '../sandbox/start.ts';
import { startRestartableWorker, type WorkerSettings } from './worker-process.ts';
import { Stripe } from 'stripe';
import { stripeOptions } from '../../worker/billing/stripe-client.ts';
import { setUpStripe as setUp } from '../../worker/operations/stripe-setup/stripe-setup.ts';

/** Without a port it chooses a free one; without `varsFile` it writes a file into `stateDir`. */
export type ProductSettings = Partial<WorkerSettings> & {
  stateDir: string;
  sandboxPort?: number;
  /** Starts with empty state. */
  reset?: boolean;
  /** Aborts a start that is still running, and ends what runs. */
  signal?: AbortSignal;
};

/**
 * Starts Solace with its local services and resolves when every part responds. `ended` resolves with a reason if the
 * Worker's process ends by itself or the signal says so; `restartWorker` kills it during its work, while the local services keep running.
 */
export async function startProduct(settings: ProductSettings) {
  const { build = true, log = () => {}, logRequests = false } = settings;
  const { port, sandboxPort, stateDir, varsFile, vars, siteUrl } = await prepare(settings);
  await using starting = new AsyncDisposableStack();
  const ofSandbox = {
    port: sandboxPort,
    stateDir: join(stateDir, 'sandbox'),
  };
  const sandbox = await startSandbox({
    ...ofSandbox,
    siteUrl,
    secrets: vars,
  });
  starting.defer(sandbox.close);
  await migrate(vars.TURSO_DATABASE_URL, vars.TURSO_AUTH_TOKEN);
  await setUpStripe(vars);
  const worker = await startRestartableWorker({
    port,
    stateDir,
    varsFile,
    build,
    log,
    logRequests,
  });
  starting.defer(worker.stop);
  starting.defer(startCronClock(siteUrl));
  const pages = [`${siteUrl}/api/health`, siteUrl, sandbox.url];
  const ended = Promise.race([worker.ended, aborted(settings.signal)]);
  await waitUntilReady(pages, ended);
  const running = starting.move();
  const close = () => running.disposeAsync();
  return {
    siteUrl,
    sandboxUrl: sandbox.url,
    vars,
    ended,
    restartWorker: worker.restart,
    close,
  };
}

/** Finds the ports, empties the state if that is asked for, and writes the settings. */
export async function prepare(settings: ProductSettings) {
  const stateDir = resolve(settings.stateDir);
  const varsFile = resolve(settings.varsFile ?? join(stateDir, 'vars'));
  const addressOf = (sitePort: number) => `http://localhost:${sitePort}`;
  if (settings.port) requireOtherAddress(stateDir, addressOf(settings.port));
  const port = await freePort(settings.port ?? 0, 'PORT');
  const sandboxPort = await freePort(settings.sandboxPort ?? 0, 'SANDBOX_PORT');
  const siteUrl = addressOf(port);
  lockState(stateDir, siteUrl);
  if (settings.reset) rmSync(stateDir, { recursive: true, force: true });
  requireOwnVersion(stateDir);
  refreshVars(varsFile, addresses(port, sandboxPort));
  const vars = readVars(varsFile);
  return { port, sandboxPort, stateDir, varsFile, vars, siteUrl };
}

/** Where nothing listens: services alone have no Worker. */
const sitePort = 9;

type ServiceOptions = {
  isSetUp?: boolean;
  settings?: Record<string, string>;
};

/** Starts local services and returns matching settings, besides those given; `isSetUp` sets them up as `npm run dev` does. */
export async function startTestServices({ isSetUp = true, settings = {} }: ServiceOptions = {}) {
  const stateDir = mkdtempSync(join(tmpdir(), 'solace-services-'));
  const port = await freePort(0, 'SANDBOX_PORT');
  const vars = refreshVars(join(stateDir, 'vars'), {
    ...addresses(sitePort, port),
    ...settings,
  });
  const { SITE_URL: siteUrl, TURSO_DATABASE_URL: url, TURSO_AUTH_TOKEN: authToken } = vars;
  const sandbox = await startSandbox({
    port,
    stateDir,
    siteUrl,
    secrets: vars,
  });
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

/** Resolves when the signal is aborted, also if it was before. */
export function aborted(signal: AbortSignal | undefined): Promise<string> {
  return new Promise((resolve) => {
    const stop = () => resolve('Stopped.');
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Does what `npm run stripe:setup` does, against the local Stripe; a real account is not changed. */
export async function setUpStripe(vars: Record<string, string>): Promise<void> {
  const { STRIPE_API_BASE: base = '', STRIPE_SECRET_KEY: key = '', SITE_URL: siteUrl = '' } = vars;
  if (!/^https?:\/\/(localhost|127\.0\.0\.1)[:/]/.test(base)) return;
  await setUp(new Stripe(key, stripeOptions(base)), siteUrl.replace(/\/+$/, ''));
}

/** Runs the Worker's cron triggers, which `wrangler dev` does not. Returns a function that stops it. */
export function startCronClock(siteUrl: string): () => Promise<void> {
  const everyMinute = setInterval(() => void runMinuteCron(siteUrl), 60_000);
  const everyHour = setInterval(() => void runHourlyCron(siteUrl), 3_600_000);
  return async () => [everyMinute, everyHour].forEach((timer) => clearInterval(timer));
}

/** Runs the minute's cron trigger now; resolves when its tasks are done, or the Worker does not respond. */
export const runMinuteCron = (siteUrl: string): Promise<void> => runCron(siteUrl, '* * * * *');

export const runHourlyCron = (siteUrl: string): Promise<void> => runCron(siteUrl, '0 * * * *');

async function runCron(siteUrl: string, cron: string): Promise<void> {
  const response = await fetch(
    `${siteUrl}/cdn-cgi/local/scheduled?cron=${encodeURIComponent(cron)}`,
  ).catch(() => null);
  await response?.body?.cancel().catch(() => undefined);
}
