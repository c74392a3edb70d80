import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  // A slow machine may make one test late; a broken one fails again.
  test: {
    retry: process.env.CI ? 2 : 0,
    name: 'sandbox',
    include: ['tests/{sandbox,product,runner}/**/*.test.ts'],
    testTimeout: 20_000,
  },
});
