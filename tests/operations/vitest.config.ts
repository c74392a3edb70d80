import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The tests that only use the product share one, which starts when the first of them is selected. */
const withProduct = ['tests/operations/support.test.ts', 'tests/operations/bot-example.test.ts'];

const common = {
  // Only a failure takes this long: the limits leave room for a busy machine.
  testTimeout: 300_000,
  hookTimeout: 600_000,
  // No test changes a module, so one process runs all files and imports each module once.
  isolate: false,
};

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    projects: [
      { test: { ...common, name: 'operations', include: ['tests/operations/**/*.test.ts'], exclude: withProduct } },
      {
        test: {
          ...common,
          name: 'product',
          include: withProduct,
          globalSetup: './tests/operations/start-shared-product.ts',
          // They change the faults of the shared local services.
          fileParallelism: false,
        },
      },
    ],
  },
});
