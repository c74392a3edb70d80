import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeBuiltConfig } from '../../product/worker-process.ts';
import { root, stateDir } from './paths-and-ports.ts';

/** A Worker in the form that `wrangler deploy` uploads. */
export type Bundle = { file: string; compatibilityDate: string; compatibilityFlags: string[] };

const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');

/** Bundles the product, or one of `workers/` by its name, under the product's compatibility date and flags. */
export async function bundle(name: string): Promise<Bundle> {
  const directory = join(stateDir, 'workers', name);
  const { compatibility_date: date, compatibility_flags: flags = [] } = await productConfig();
  const config =
    name === 'solace' ? await writeBuiltConfig(root, directory) : writeConfig(name, directory, date, flags);
  const args = ['deploy', '--dry-run', '--minify', '--env=', `--outdir=${directory}`, `--config=${config}`];
  const env = { ...process.env, WRANGLER_SEND_METRICS: 'false', WRANGLER_HIDE_BANNER: 'true', FORCE_COLOR: '0' };
  await promisify(execFile)(process.execPath, [wrangler, ...args], { cwd: root, env, timeout: 120_000 });
  const file = join(directory, name === 'solace' ? 'index.js' : `${name}.js`);
  return { file, compatibilityDate: date, compatibilityFlags: flags };
}

async function productConfig(): Promise<{ compatibility_date: string; compatibility_flags?: string[] }> {
  const { experimental_readRawConfig: readRawConfig } = await import('wrangler');
  return readRawConfig({ config: join(root, 'wrangler.toml') }).rawConfig as { compatibility_date: string };
}

function writeConfig(name: string, directory: string, date: string, flags: string[]): string {
  const file = join(directory, 'wrangler.json');
  const main = join(root, `tests/bench/workers/${name}.ts`);
  mkdirSync(directory, { recursive: true });
  writeFileSync(file, JSON.stringify({ name, main, compatibility_date: date, compatibility_flags: flags }));
  return file;
}
