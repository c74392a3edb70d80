import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settingNames } from './checks/settings.ts';
import type { Target, Values } from './target.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');

/** Builds and deploys the Worker, its assets and its settings as one version; whether that went well. */
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
    const child = spawn(process.execPath, [wrangler, ...args], { cwd: root, stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The line that brings the version before back. */
export function rollbackLine(target: Target): string {
  return `npx wrangler rollback --env ${target} --yes`;
}

function settingsIn(values: Values): Values {
  return Object.fromEntries(settingNames.flatMap((name) => (values[name] ? [[name, values[name]]] : [])));
}

/** The site's own host; an address under workers.dev comes by itself. */
function domain({ SITE_URL = '' }: Values): string[] {
  const { hostname } = new URL(SITE_URL);
  return hostname.endsWith('.workers.dev') ? [] : ['--domain', hostname];
}

function version(): string {
  return execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8' }).trim();
}
