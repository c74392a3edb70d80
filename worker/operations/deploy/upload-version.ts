import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingNames } from '../doctor/checks/settings.ts';
import type { Target, Values } from '../target.ts';
import { root, type Wrangler, type WranglerRun } from './wrangler.ts';

/** Builds and deploys the Worker, its assets and its settings as one version. */
export function publish(wrangler: Wrangler, target: Target, values: Values): Promise<WranglerRun> {
  return withSettings(values, (file) =>
    wrangler(['deploy', ...versionFlags(target, file), ...domain(values)], { env: buildEnvironment(values) }),
  );
}

/** Builds and uploads the same version without deploying it: nobody gets it yet. */
export function upload(wrangler: Wrangler, target: Target, values: Values): Promise<WranglerRun> {
  return withSettings(values, (file) =>
    wrangler(['versions', 'upload', ...versionFlags(target, file)], { env: buildEnvironment(values) }),
  );
}

/** The command that restores the previous version. */
export function rollbackLine(target: Target): string {
  return `npx wrangler rollback --env ${target} --yes`;
}

async function withSettings<T>(values: Values, run: (file: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'solace-deploy-'));
  const file = join(folder, 'settings.json');
  try {
    writeFileSync(file, JSON.stringify(settingsIn(values)), { mode: 0o600 });
    return await run(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function versionFlags(target: Target, file: string): string[] {
  return ['--env', target, '--secrets-file', file, '--message', version()];
}

function settingsIn(values: Values): Values {
  return Object.fromEntries(settingNames.flatMap((name) => (values[name] ? [[name, values[name]]] : [])));
}

/** The site's own host; an address under workers.dev needs no route. */
function domain({ SITE_URL = '' }: Values): string[] {
  const { hostname } = new URL(SITE_URL);
  return hostname.endsWith('.workers.dev') ? [] : ['--domain', hostname];
}

/** wrangler runs the build, which writes the contact address into the page. */
export function buildEnvironment({ CONTACT_URL }: Values): NodeJS.ProcessEnv {
  return { ...process.env, ...(CONTACT_URL && { VITE_CONTACT_URL: CONTACT_URL }) };
}

/** The commit, or the version of package.json and the time if the sources have no git history. */
export function version(folder = root): string {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: [...stdio],
    }).trim();
  } catch {
    const { version: number }: { version: string } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    return `${number} of ${new Date().toISOString().slice(0, 16)}`;
  }
}
