import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { RandomSequencer, type TestSpecification } from 'vitest/node';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Files in random order: `--sequence.seed=N` repeats the order of a run that printed the seed N. */
class Shards extends RandomSequencer {
  /** Files that begin alike test the same feature and take as long, so each shard takes every third one or so. */
  override async shard(files: TestSpecification[]) {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    const byName = files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
    return byName.filter((_, place) => place % count === index - 1);
  }
}

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
    sequence: { sequencer: Shards, shuffle: { files: true } },
    // Longer than the 30 s of a wait inside a test, whose failure tells more.
    testTimeout: 120_000,
    silent: 'passed-only',
  },
});
