import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settingNames } from '../doctor/checks/settings.ts';
import type { Target, Values } from '../target.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');

/** Builds and deploys the Worker, its assets and its settings as one version; returns whether it succeeded. */
export async function publish(target: Target, values: Values, more: string[] = []): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'solace-deploy-'));
  const file = join(folder, 'settings.json');
  try {
    writeFileSync(file, JSON.stringify(settingsIn(values)), { mode: 0o600 });
    const args = [
      'deploy',
      '--env',
      target,
      '--secrets-file',
      file,
      '--message',
      version(),
      ...domain(values),
      ...more,
    ];
    const child = spawn(process.execPath, [wrangler, ...args], {
      cwd: root,
      stdio: 'inherit',
      env: buildEnvironment(values),
    });
    const [code]: (number | null)[] = await once(child, 'exit');
    return code === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The command that restores the previous version. */
export function rollbackLine(target: Target): string {
  return `npx wrangler rollback --env ${target} --yes`;
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
