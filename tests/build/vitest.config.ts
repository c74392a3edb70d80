import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // They only read, so one process runs all files.
  test: { name: 'build', include: ['tests/build/**/*.test.ts'], isolate: false, testTimeout: 300_000 },
});
