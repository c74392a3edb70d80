import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** By name: the clock of the local Stripe only advances, so another order would change the results. */
class ByName extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    return byName(files);
  }

  /** Files that begin alike test the same feature and take as long, so each shard takes every second one. */
  override async shard(files: TestSpecification[]) {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    return byName(files).filter((_, place) => place % count === index - 1);
  }
}

const byName = (files: TestSpecification[]) => files.toSorted((a, b) => a.moduleId.localeCompare(b.moduleId));

export default defineConfig({
  root,
  // Stripe's SDK names source maps that it does not ship.
  logLevel: 'error',
  plugins: [
    cloudflareTest(({ inject }) => ({
      main: './worker/index.ts',
      wrangler: { configPath: './wrangler.toml' },
      miniflare: { bindings: { ...inject<Record<string, string>>('vars'), SANDBOX: inject<string>('sandbox') } },
    })),
  ],
  test: {
    name: 'api',
    include: ['tests/api/**/*.test.ts'],
    globalSetup: './tests/api/global-setup.ts',
    setupFiles: './tests/api/support/restore.ts',
    // The local services are shared, and some tests break them on purpose.
    fileParallelism: false,
    // A new process for each file would load the Worker again, which takes more than a second.
    isolate: false,
    sequence: { sequencer: ByName },
    testTimeout: 120_000,
    // On a slow machine a test may time out; a broken test fails again.
    retry: process.env.CI ? 2 : 0,
    silent: 'passed-only',
  },
});
