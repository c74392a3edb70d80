import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Files in random order, which `--sequence.seed=N` repeats. */
class Shards extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const { seed } = this.ctx.config.sequence;
    process.stdout.write(`API tests in random order; repeat it with --sequence.seed=${seed}\n`);
    const keyOf = ({ moduleId }: TestSpecification) =>
      hash('sha1', seed + relative(root, moduleId));
    return files.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** Each shard takes every second or third file by size, since larger ones take longer. */
  override async shard(files: TestSpecification[]) {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    const sorted = files.toSorted((a, b) => statSync(b.moduleId).size - statSync(a.moduleId).size);
    return sorted.filter((_, place) => place % count === index - 1);
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
      miniflare: {
        bindings: { ...inject<Record<string, string>>('vars'), SANDBOX: inject<string>('sandbox') },
      },
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
    sequence: { sequencer: Shards },
    // Longer than the 30 s of a wait inside a test, whose failure tells more.
    testTimeout: 120_000,
    silent: 'passed-only',
  },
});
