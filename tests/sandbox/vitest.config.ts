import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: {
    name: 'sandbox',
    include: ['tests/{sandbox,product,runner,faults}/**/*.test.ts'],
    testTimeout: 60_000,
    // Each test starts its own services, so one process runs all files and imports each module once.
    isolate: false,
  },
});
