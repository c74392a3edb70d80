import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'operations',
    include: ['tests/operations/**/*.test.ts'],
    // Only a failure takes this long: the limits leave room for a busy machine.
    testTimeout: 300_000,
    hookTimeout: 600_000,
    // No test changes a module, so one process runs all files and imports each module once.
    isolate: false,
  },
});
