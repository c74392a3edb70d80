import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('../..', import.meta.url));

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
    // The local services are shared, and some tests break them on purpose.
    fileParallelism: false,
    testTimeout: 30_000,
    silent: 'passed-only',
  },
});
