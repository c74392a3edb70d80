import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { experimental_readRawConfig } from 'wrangler';
import { writeBuiltConfig } from '../product/worker-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');
const limitKiB = 200;

const folder = mkdtempSync(join(tmpdir(), 'solace-dry-run-'));
const config = await writeBuiltConfig(root, folder);
afterAll(() => rmSync(folder, { recursive: true }));

/** What `wrangler deploy` would upload; the website is in `dist` already. */
it.concurrent.each(['preview', 'production'])(
  'would deploy the environment "%s" within its budget, with all bindings',
  async (name) => {
    const args = ['deploy', '--dry-run', '--config', config, '--env', name, '--outdir', join(folder, `out-${name}`)];
    const own = { WRANGLER_SEND_METRICS: 'false', WRANGLER_LOG_PATH: join(folder, 'logs'), FORCE_COLOR: '0' };
    const env = { ...process.env, ...own };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [wrangler, ...args], { env });
    const told = stdout + stderr;
    const bindings = ['LIVE_USER', 'RATE_LIMITER', 'NETWORK_RATE_LIMITER'];
    for (const part of [...bindings, 'assets directory']) expect(told).toContain(part);
    expect(told).not.toMatch(/warning/i);
    const [, gzipped] = /gzip: ([\d.]+) KiB/.exec(told) ?? [];
    expect(Number(gzipped)).toBeLessThan(limitKiB);
  },
);

const { rawConfig } = experimental_readRawConfig({ config: join(root, 'wrangler.toml') });
const { env, observability, migrations = [], ratelimits = [] } = rawConfig;

it('answers under workers.dev in preview alone, limits calls, and samples traces', () => {
  expect(env?.['production']).toMatchObject({ workers_dev: false, preview_urls: false });
  expect(env?.['preview']).not.toHaveProperty('workers_dev');
  expect(ratelimits).toMatchObject([600, 3000].map((limit) => ({ simple: { limit, period: 60 } })));
  const rate = observability?.traces?.head_sampling_rate;
  expect(rate).toBeGreaterThan(0);
  expect(rate).toBeLessThan(1);
});

it('keeps the conversations, which are of LiveUser now, by its migrations', () => {
  const renamed = migrations.flatMap(({ renamed_classes: classes = [] }) => classes);
  const deleted = migrations.flatMap(({ deleted_classes: classes = [] }) => classes);
  expect(renamed).toContainEqual({ from: 'Conversation', to: 'LiveUser' });
  expect(deleted).toEqual(['UsageChannel']);
});
