import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // Which tests have failed is kept here, apart from those of the other suites that run beside it.
  cacheDir: 'node_modules/.vite/api',
  // Stripe's SDK names source maps that it does not ship.
  logLevel: 'error',
  plugins: [
    cloudflareTest(({ inject }) => ({
      main: './worker/index.ts',
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        bindings: {
          ...inject<Record<string, string>>('vars'),
          SANDBOX: inject<string>('sandbox'),
        },
      },
    })),
  ],
  test: {
    name: 'api',
    include: ['tests/api/*.test.ts'],
    globalSetup: './tests/api/global-setup.ts',
    setupFiles: './tests/api/support/restore.ts',
    // The local services are shared, and some tests break them on purpose.
    fileParallelism: false,
    // A new process for each file would load the Worker again, which takes more than a second.
    isolate: false,
    // Longer than the 100 s of a wait inside a test, whose failure tells more.
    testTimeout: 300_000,
    silent: 'passed-only',
    tags: [{ name: 'full', description: 'Takes long: `npm run test:full` alone runs it.' }],
    ...(process.env['TEST_FULL'] ? {} : { tagsFilter: ['!full'] }),
  },
});
