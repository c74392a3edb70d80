import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the Worker's configuration without its build step, for a built tree; returns the file. */
export async function writeBuiltConfig(root: string, stateDir: string): Promise<string> {
  const { experimental_readRawConfig: readRawConfig } = await import('wrangler');
  const { rawConfig } = readRawConfig({ config: join(root, 'wrangler.toml') });
  const { build: _build, ...config } = rawConfig;
  const file = join(stateDir, 'wrangler.json');
  const absolute = {
    ...config,
    main: join(root, String(config.main)),
    assets: { ...config.assets, directory: join(root, String(config.assets?.directory)) },
  };
  mkdirSync(stateDir, { recursive: true });
  writeFileSync(file, JSON.stringify(absolute));
  return file;
}
