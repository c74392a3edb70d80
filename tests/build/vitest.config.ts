import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: { name: 'build', include: ['tests/build/**/*.test.ts'], testTimeout: 30_000 },
});
