import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // A slow machine may make one test late; a broken one fails again.
  test: {
    retry: process.env.CI ? 2 : 0,
    name: 'operations',
    include: ['tests/operations/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
